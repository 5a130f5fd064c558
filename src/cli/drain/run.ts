import type { MaintenanceSpec } from '../../api/quorate/maintenance.ts';
import {
  askServer,
  type DrainDeps,
  type DrainOptions,
  type DrainOutcome,
  type DrainPod,
  type DrainReport,
  type DrainResult,
  drainNodes,
  followDrain,
} from '../../tasks/index.ts';
import { formatPodExplanation } from '../../decisions/all-budgets/index.ts';
import { systemClock } from '../../machinery/runtime/index.ts';
import { parseSelector } from '../../machinery/values/index.ts';
import { withCluster } from '../shared/cluster.ts';
import { count, cut, fit, type Stream } from '../shared/terminal.ts';
import { formatOutput } from '../shared/output.ts';
import { specOf } from './detach.ts';
import type { DrainFlags } from './flags.ts';
import { nodesOf } from './nodes.ts';
import { watchForPause } from './pause.ts';
import { complain } from '../shared/complain.ts';

export const EXIT_CODES: Readonly<Record<DrainOutcome, number>> = {
  Drained: 0,
  WouldDrain: 0,
  Failed: 1,
  NotEvictable: 1,
  TimedOut: 2,
  Refused: 3,
};

export async function runDrain(named: readonly string[], flags: DrainFlags): Promise<number> {
  const { dryRun = 'none' } = flags;
  return withCluster('drain', flags, async (cluster) => {
    // Progress goes beside the result, so that the result alone can be piped on.
    const report = progressReport(process.stderr);
    const deps = { client: cluster.client, clock: systemClock, report };
    const nodes = await nodesOf(cluster.client, named, flags.selector);
    const options: DrainOptions = {
      nodes,
      allOrNothing: flags.bestEffort !== true,
      dryRun: dryRun !== 'none',
      timeoutMs: flags.timeout,
      gracePeriodSeconds: flags.gracePeriod,
      podSelector: flags.podSelector === undefined ? undefined : parseSelector(flags.podSelector),
      rules: {
        force: flags.force === true,
        ignoreDaemonSets: flags.ignoreDaemonsets === true,
        deleteEmptyDirData: flags.deleteEmptydirData === true,
        skipWaitForDeleteTimeoutSeconds: flags.skipWaitForDeleteTimeout,
      },
    };
    if (fitsMaintenance(flags)) {
      const followed = await runFollowed(deps, options, flags);
      report.end();
      if (followed !== undefined) return followed;
    }
    const looked = await drainNodes(deps, options);
    report.end();
    const result = dryRun === 'server' ? await askServer(cluster.client, looked, flags.gracePeriod) : looked;
    process.stdout.write(formatOutput(result, formatResult(result, Date.now()), flags.output));
    return EXIT_CODES[result.outcome];
  });
}

/** Whether a Maintenance can do all that is asked for. */
const fitsMaintenance = ({ dryRun = 'none', podSelector, skipWaitForDeleteTimeout }: DrainFlags): boolean =>
  dryRun === 'none' && podSelector === undefined && skipWaitForDeleteTimeout === 0;

const PAUSED = 5;

/**
 * Drains by a Maintenance, which goes on without this terminal, and follows it. What cannot be begun is refused before one
 * is made. Undefined where Maintenances cannot be made here, and nothing was touched.
 */
async function runFollowed(deps: DrainDeps, options: DrainOptions, flags: DrainFlags): Promise<number | undefined> {
  const looked = await drainNodes(deps, { ...options, dryRun: true });
  const print = (result: DrainResult, more: readonly string[] = []): number => {
    process.stdout.write(formatOutput(result, [...formatResult(result, Date.now()), ...more], flags.output));
    return EXIT_CODES[result.outcome];
  };
  if (looked.outcome === 'NotEvictable' || (looked.outcome === 'Refused' && options.allOrNothing)) return print(looked);
  const pause = watchForPause(() => {});
  try {
    // As ever, a drain does not ask for room elsewhere: plan drain and Maintenances do.
    const spec: MaintenanceSpec = { ...specOf(options.nodes, flags, Date.now()), capacity: 'Ignore' };
    const followed = await followDrain(deps, spec, pause.isPaused);
    if (followed === undefined) return undefined;
    const { name, outcome, text } = followed;
    if (outcome === 'Paused') {
      complain(`maintenance ${name} is paused. To go on: quorate maintenance resume ${name}`);
      return PAUSED;
    }
    const pods = looked.pods.map(
      (pod): DrainPod =>
        pod.state === 'Planned' ? { ...pod, state: outcome === 'Drained' ? 'Gone' : 'Waiting' } : pod,
    );
    const told = text === undefined ? [] : [`Maintenance ${name}: ${text}.`];
    return print({ outcome, nodes: options.nodes, pods, explanations: [] }, told);
  } finally {
    pause.stop();
  }
}

/** One line for each thing that happens; on a terminal, how far it is stands in a line that rewrites itself. */
export function progressReport(stream: Stream & { write(text: string): unknown }): DrainReport & { end(): void } {
  let shown = '';
  const clear = (): void => {
    if (shown !== '' && stream.isTTY) stream.write('\r\u001b[2K');
  };
  return {
    step(text) {
      clear();
      stream.write(`${fit([text], stream).join('\n')}\n`);
      if (stream.isTTY) stream.write(cut(shown, stream));
    },
    progress({ groupsDown, left, total, waitingFor }) {
      const groups = groupsDown > 0 ? `, ${count(groupsDown, 'group')} taken` : '';
      const line = `${total - left} of ${total} pods gone${groups}${waitingFor === undefined ? '' : `; waiting: ${waitingFor}`}`;
      if (line === shown) return;
      clear();
      shown = line;
      stream.write(stream.isTTY ? cut(line, stream) : `${line}\n`);
    },
    end() {
      clear();
      shown = '';
    },
  };
}

const OUTCOMES: Readonly<Record<DrainOutcome, string>> = {
  Drained: 'Drained',
  WouldDrain: 'Every pod can be evicted now',
  Failed: 'Not drained: some pods cannot be evicted',
  NotEvictable: 'Nothing was touched: some pods would be lost or left',
  TimedOut: 'Not drained: --timeout has passed',
  Refused: 'Nothing was touched: budgets do not allow every pod to be evicted now',
};

export function formatResult({ explanations, nodes, outcome, pods }: DrainResult, now: number): string[] {
  const lines = [`${OUTCOMES[outcome]} (${nodes.join(', ')}).`];
  if (outcome !== 'Drained') {
    for (const { name, namespace, node, state, text } of pods) {
      if (state === 'Gone' || (state === 'Left' && outcome !== 'WouldDrain')) continue;
      lines.push(
        `  ${state.toLowerCase().padEnd(8)} ${namespace}/${name} on ${node}${text === undefined ? '' : `: ${text}`}`,
      );
    }
  }
  for (const explanation of explanations) lines.push('', ...formatPodExplanation(explanation, now));
  if (outcome === 'Refused') lines.push('', 'To evict what budgets allow now and wait for the rest: --best-effort');
  return lines;
}
