import type { Node, NodeCondition, Pod } from '../../../api/generated/core-v1.ts';
import type { GroupEviction } from '../../../api/quorate/group-eviction.ts';
import type { Maintenance, MaintenancePhase } from '../../../api/quorate/maintenance.ts';
import type { GroupHealth, NewBlocker } from '../../../decisions/maintenance/index.ts';
import type { RecoveryReader } from '../../../cluster-state/recoveries.ts';
import type { Client, Clock, EventRecorder, Informer } from '../../../machinery/runtime/index.ts';
import type { Random } from '../../../machinery/values/index.ts';

export interface MaintenanceDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly random: Random;
  readonly maintenances: Informer<Maintenance>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  /** Whether groups can be evicted whole. */
  readonly groupEvictions: boolean;
  /** Absent where they cannot. */
  readonly evictions: Informer<GroupEviction> | undefined;
  readonly countBlocked: CountBlocked;
  readonly recoveries: RecoveryReader;
  readonly memories: Map<string, Memory>;
}

/** Told after each pass in which phase a Maintenance is. */
export type CountBlocked = (memory: Memory, phase: MaintenancePhase | undefined, now: number) => void;

/** GroupEvictions whose group is given notice, by the Maintenance that wants that. */
export const BY_MAINTENANCE = 'maintenance-notice';

/**
 * What one process knows of a Maintenance beside what is written. Nothing depends on it but how soon something is asked
 * again: a successor begins with none.
 */
export interface Memory {
  /** When a group may be asked for again. */
  readonly askAgainAt: Map<string, number>;
  /** What was said when a group was asked for last; empty where it was granted. */
  readonly refusals: Map<string, readonly NewBlocker[]>;
  /** Nodes as they were when this process wrote them, which its cache may not have heard of. */
  readonly nodes: Map<string, Node>;
  /** Pods by uid that are known to be gone: none comes back. */
  readonly gone: Set<string>;
  readonly written: Map<string, { readonly at: number; readonly status: string }>;
  groups?: { readonly at: number; readonly step: string; readonly states: ReadonlyMap<string, GroupHealth> };
  notices?: { readonly at: number; readonly step: string; readonly ms: ReadonlyMap<string, number> };
  plannedAt?: number;
  /** It has been blocked, and that is counted up to here. */
  blockedUntil?: number | undefined;
}

export const newMemory = (): Memory => ({
  askAgainAt: new Map(),
  refusals: new Map(),
  nodes: new Map(),
  gone: new Set(),
  written: new Map(),
});

export function noteWritten(memory: Memory, node: string, conditions: readonly NodeCondition[], at: number): void {
  for (const { status, type } of conditions) memory.written.set(`${node}/${type}`, { at, status });
}
