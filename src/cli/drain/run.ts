import { askServer, type DrainOutcome, type DrainReport, type DrainResult, drainNodes } from '../../tasks/index.ts';
import { formatPodExplanation } from '../../decisions/all-budgets/index.ts';
import { systemClock } from '../../machinery/runtime/index.ts';
import { parseSelector } from '../../machinery/values/index.ts';
import { failWith } from '../shared/fail.ts';
import { openCluster } from '../shared/cluster.ts';
import type { ClusterFlags, DryRun } from '../shared/flags.ts';
import { count, cut, fit, type Stream } from '../shared/terminal.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';

export interface DrainFlags extends ClusterFlags {
  readonly bestEffort?: boolean;
  readonly dryRun?: DryRun;
  readonly timeout: number;
  readonly force?: boolean;
  readonly ignoreDaemonsets?: boolean;
  readonly deleteEmptydirData?: boolean;
  readonly gracePeriod?: number;
  readonly podSelector?: string;
  readonly skipWaitForDeleteTimeout: number;
  readonly output: OutputFormat;
  readonly plan?: string;
  readonly uncordon?: boolean;
  readonly replan?: boolean;
}

export const EXIT_CODES: Readonly<Record<DrainOutcome, number>> = {
  Drained: 0,
  WouldDrain: 0,
  Failed: 1,
  NotEvictable: 1,
  TimedOut: 2,
  Refused: 3,
};

export async function runDrain(nodes: readonly string[], flags: DrainFlags): Promise<number> {
  const { dryRun = 'none' } = flags;
  try {
    const cluster = openCluster(flags);
    // Progress goes beside the result, so that the result alone can be piped on.
    const report = progressReport(process.stderr);
    // A wait between two attempts must keep the process alive, which clock timers on purpose do not.
    const alive = setInterval(() => {}, 60_000);
    try {
      const looked = await drainNodes(
        { client: cluster.client, clock: systemClock, report },
        {
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
        },
      );
      report.end();
      const result = dryRun === 'server' ? await askServer(cluster.client, looked, flags.gracePeriod) : looked;
      process.stdout.write(formatOutput(result, formatResult(result, Date.now()), flags.output));
      return EXIT_CODES[result.outcome];
    } finally {
      clearInterval(alive);
      cluster.close();
    }
  } catch (error) {
    return failWith('drain', error);
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
