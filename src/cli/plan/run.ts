import type { ToldTimes } from '../../decisions/drain-question/index.ts';
import { type PlannedDrain, planClusterDrain } from '../../tasks/index.ts';
import { failWith } from '../shared/fail.ts';
import { openCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatPlan, formatPlanMermaid } from '../shared/plan-text.ts';
import { formatOutput } from '../shared/output.ts';
import type { ReadyAfter } from '../shared/ready-after.ts';
import { fit } from '../shared/terminal.ts';

export interface PlanFlags extends ClusterFlags {
  readonly selector?: string;
  readonly all: boolean;
  readonly nodesReturn: boolean;
  readonly nodeDowntime: number;
  readonly readyAfter: ReadyAfter;
  readonly stopAfter?: number;
  readonly reserve: boolean;
  readonly output: 'table' | 'json' | 'yaml' | 'mermaid';
}

const BLOCKED = 3;

export async function runPlanDrain(nodes: readonly string[], flags: PlanFlags): Promise<void> {
  try {
    const cluster = openCluster(flags);
    try {
      const planned = await planClusterDrain(cluster.client, {
        nodes,
        selector: flags.selector,
        all: flags.all,
        nodesReturn: flags.nodesReturn || flags.all,
        now: Date.now(),
        nodeDowntimeSeconds: flags.nodeDowntime / 1000,
        times: toldTimes(flags),
        reserve: flags.reserve,
      });
      process.stdout.write(print(planned, flags.output));
      if (planned.plan.blocked.length > 0) process.exitCode = BLOCKED;
    } finally {
      cluster.close();
    }
  } catch (error) {
    process.exitCode = failWith('plan drain', error);
  }
}

function toldTimes({ readyAfter: { byWorkload, defaultMs }, stopAfter }: PlanFlags): ToldTimes {
  return {
    readyByName: new Map([...byWorkload].map(([name, ms]) => [name, ms / 1000])),
    readySeconds: defaultMs === undefined ? undefined : defaultMs / 1000,
    stopSeconds: stopAfter === undefined ? undefined : stopAfter / 1000,
  };
}

function print(planned: PlannedDrain, output: PlanFlags['output']): string {
  if (output === 'json' || output === 'yaml') return formatOutput(planned, [], output);
  return output === 'mermaid'
    ? formatPlanMermaid(planned)
    : `${fit(formatPlan(planned).trimEnd().split('\n'), process.stdout).join('\n')}\n`;
}
