import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import type { Maintenance } from '../../../api/quorate/maintenance.ts';
import type { DisruptionIndex } from '../../../decisions/disruption/index.ts';
import type { PodDeparture } from '../../../decisions/history/index.ts';
import type { Informer } from '../../../machinery/runtime/index.ts';

/** Pods by the uid of what made them. */
export const BY_OWNER = 'history-owner';

export interface SeenThings {
  readonly index: DisruptionIndex;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly maintenances: Informer<Maintenance> | undefined;
}

/** Something that was seen and has still to be entered. */
export interface Sighting {
  readonly kind: 'Went' | 'Lost';
  readonly departure: Omit<PodDeparture, 'isUnwanted'>;
  readonly pod: Pod;
  /** Pods of the same controller that were left just then; undefined where that cannot be told. */
  readonly siblings: number | undefined;
}
