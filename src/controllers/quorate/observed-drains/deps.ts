import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import type { Maintenance } from '../../../api/quorate/maintenance.ts';
import type { NewBlocker } from '../../../decisions/maintenance/index.ts';
import type { Client, Clock, EventRecorder, Informer } from '../../../machinery/runtime/index.ts';
import type { ElsewhereReader } from './elsewhere.ts';

export interface ObservedDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly maintenances: Informer<Maintenance>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly elsewhere: ElsewhereReader;
  /** By the name of the Maintenance. */
  readonly memories: Map<string, ObservedMemory>;
  /** Whether groups are moved before deadlines that ignore budgets. */
  readonly moves: boolean;
}

/** What one process knows beside what is written; a successor begins with none. */
export interface ObservedMemory {
  lookedAt: number;
  askedAt: number;
  blockers: readonly NewBlocker[];
  /** Groups that it was said of that a deadline will break them. */
  readonly warned: Set<string>;
}
