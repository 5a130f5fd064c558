import type { FilterName } from '../decisions/gang/index.ts';

/**
 * active: to be tried next; backoff: failed and resting; parked: failed, waiting for an event that could help;
 * held: not tried until its group is complete; idle: being tried, or with nothing to try.
 */
export type EntityState = 'active' | 'backoff' | 'parked' | 'held' | 'idle';

/** A pod on its own, or a group with all its pending pods. */
export interface Entity {
  readonly key: string;
  readonly group: string | undefined;
  priority: number;
  since: number;
  readonly order: number;
  state: EntityState;
  attempts: number;
  restsUntil: number;
  stateSince: number;
  filters: ReadonlySet<FilterName>;
  /** The state of the cluster in which it last failed; the same state would answer the same. */
  failedAt: number;
}
