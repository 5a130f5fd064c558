import type { Cluster, GroupTerms, PreemptionContext } from '../decisions/gang/index.ts';
import type { Clock, EventRecorder, Logger, Metrics } from '../machinery/runtime/index.ts';
import type { GroupBook } from './group-objects.ts';
import type { PendingQueue } from './pending-queue.ts';
import type { Permit } from './permit.ts';
import type { KnownPod, PodBook } from './pod-book.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Victims } from './victims.ts';

/** What one attempt to schedule works with. */
export interface SchedulerDeps {
  readonly schedulerName: string;
  readonly cluster: Cluster;
  readonly book: PodBook;
  readonly groups: GroupBook;
  readonly queue: PendingQueue;
  readonly permit: Permit;
  readonly status: StatusWriter;
  readonly victims: Victims;
  readonly preemption: PreemptionContext;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  /** The terms of a group as they are now; undefined while its chain of objects is broken. */
  readonly termsOf: (known: KnownPod) => GroupTerms | undefined;
}
