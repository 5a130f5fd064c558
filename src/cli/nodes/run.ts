import { parseRules, RULE_NAMES, startNodes } from '../../app/index.ts';
import { failWith } from '../shared/fail.ts';
import { createLogger } from '../shared/logger.ts';
import { watchProcess } from '../shared/process-end.ts';

export interface NodesFlags {
  readonly count: number;
  readonly prefix: string;
  readonly zones?: string[];
  readonly capacity?: Record<string, string>;
  readonly rules?: string;
  readonly seed: number;
  readonly heartbeat: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly logLevel: string;
}

export async function runNodes(flags: NodesFlags): Promise<void> {
  const rules = flags.rules === undefined ? undefined : parseRules(flags.rules);
  if (flags.rules !== undefined && rules === undefined) {
    process.exitCode = failWith('nodes', `unknown rule in "${flags.rules}"; known are ${RULE_NAMES.join(', ')}`);
    return;
  }
  const log = createLogger(flags.logLevel, 'text');
  const end = watchProcess('nodes', log);
  try {
    const host = await startNodes({
      kubeconfig: flags.kubeconfig,
      context: flags.context,
      log,
      nodes: {
        count: flags.count,
        prefix: flags.prefix,
        zones: flags.zones,
        shape: { capacity: flags.capacity },
        rules,
        seed: flags.seed,
        heartbeatMs: flags.heartbeat * 1000,
      },
    });
    const stopped = end.asked();
    process.stdout.write(`Simulating ${flags.count} nodes on ${host.server}. Ctrl-C stops; the Node objects stay.\n`);
    // A pending timer of the clock does not keep the process alive; this one does.
    const stay = setInterval(() => {}, 60_000);
    await stopped;
    clearInterval(stay);
    await end.stop(() => host.stop());
  } catch (error) {
    process.exitCode = failWith('nodes', error);
  }
}
