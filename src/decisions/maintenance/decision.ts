import type { MaintenanceStatus } from '../../api/quorate/maintenance.ts';
import type { MaintenanceAction, MaintenanceEvent } from './facts.ts';

/**
 * What to do next. Actions follow from what the stored status says, and `status` is written after them: so a step is in
 * the status before its first eviction, and done in it after its last pod is gone, wherever the controller dies.
 */
export interface Decision {
  readonly actions: readonly MaintenanceAction[];
  readonly status: MaintenanceStatus;
  readonly events: readonly MaintenanceEvent[];
  /** A plan has to be made before anything else. */
  readonly plan?: PlanWish | undefined;
  /** Look again as soon as this is written. */
  readonly again?: boolean | undefined;
  readonly lookAgainAt?: number | undefined;
}

export interface PlanWish {
  /** Claimed nodes that pods came to, which made it necessary. */
  readonly cameTo: readonly string[];
  /** No sooner after the last one. */
  readonly everyMs: number;
}

/** How it ends. */
export interface MaintenanceEnding {
  readonly phase: 'Done' | 'Failed' | 'Cancelled';
  readonly reason: 'Drained' | 'Incomplete' | 'Cancelled' | 'DeadlineExceeded' | 'NodesReleased' | 'NodesNotFound';
  readonly message: string;
}
