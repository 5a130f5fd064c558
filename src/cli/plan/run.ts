import type { ToldTimes } from '../../decisions/drain-question/index.ts';
import { type PlannedDrain, planClusterDrain } from '../../tasks/index.ts';
import { withCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatPlan, formatPlanMermaid } from '../shared/plan-text.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';
import type { ReadyAfter } from '../shared/ready-after.ts';
import { printAnswer, type WatchFlag } from '../shared/watch.ts';

export interface PlanFlags extends ClusterFlags, WatchFlag {
  readonly selector?: string;
  readonly all: boolean;
  readonly nodesReturn: boolean;
  readonly nodeDowntime: number;
  readonly readyAfter: ReadyAfter;
  readonly stopAfter?: number;
  readonly reserve: boolean;
  readonly allowExchange: boolean;
  readonly output: 'table' | 'mermaid' | Exclude<OutputFormat, 'text' | 'wide' | 'name'>;
}

const BLOCKED = 3;

export async function runPlanDrain(nodes: readonly string[], flags: PlanFlags): Promise<void> {
  process.exitCode = await withCluster('plan drain', flags, ({ client }) =>
    printAnswer(async () => {
      const planned = await planClusterDrain(client, {
        nodes,
        selector: flags.selector,
        all: flags.all,
        nodesReturn: flags.nodesReturn || flags.all,
        now: Date.now(),
        nodeDowntimeSeconds: flags.nodeDowntime / 1000,
        times: toldTimes(flags),
        reserve: flags.reserve,
        allowExchange: flags.allowExchange,
      });
      return { text: print(planned, flags.output), code: planned.plan.blocked.length > 0 ? BLOCKED : 0 };
    }, flags),
  );
}

function toldTimes({ readyAfter: { byWorkload, defaultMs }, stopAfter }: PlanFlags): ToldTimes {
  return {
    readyByName: new Map([...byWorkload].map(([name, ms]) => [name, ms / 1000])),
    readySeconds: defaultMs === undefined ? undefined : defaultMs / 1000,
    stopSeconds: stopAfter === undefined ? undefined : stopAfter / 1000,
  };
}

function print(planned: PlannedDrain, output: PlanFlags['output']): string {
  if (output === 'mermaid') return formatPlanMermaid(planned);
  return formatOutput(planned, formatPlan(planned).trimEnd().split('\n'), output === 'table' ? 'text' : output);
}
