import type { ClusterFlags, DryRun } from '../shared/flags.ts';
import type { OutputFormat } from '../shared/output.ts';

export interface DrainFlags extends ClusterFlags {
  readonly selector?: string;
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
  readonly allowExchange?: boolean;
  readonly detach?: boolean;
}
