import type { Cluster, GroupTree, PreemptionContext } from '../decisions/gang/index.ts';
import type { Client, Clock, EventRecorder, Informers, Logger, Metrics } from '../machinery/runtime/index.ts';
import type { PreemptionBudgets } from './budgets.ts';
import type { GroupObjectStore } from './group-objects.ts';
import type { PendingQueue } from './pending-queue.ts';
import type { Permit } from './permit.ts';
import type { KnownPod, PodBook } from './pod-book.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Victims } from './victims.ts';
import type { Volumes } from './volumes.ts';

/** What one attempt to schedule works with. */
export interface SchedulerDeps {
  readonly client: Client;
  readonly informers: Informers;
  readonly schedulerName: string;
  readonly cluster: Cluster;
  readonly book: PodBook;
  readonly groups: GroupObjectStore;
  readonly queue: PendingQueue;
  readonly permit: Permit;
  readonly status: StatusWriter;
  readonly victims: Victims;
  readonly preemption: PreemptionContext;
  readonly budgets: PreemptionBudgets;
  readonly volumes: Volumes;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly signal: AbortSignal;
  /** The group or tree of a pod as it is now; undefined while its chain of objects is broken. */
  readonly treeOf: (known: KnownPod) => GroupTree | undefined;
}
