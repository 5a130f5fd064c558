import type { Pod } from '../../../api/generated/core-v1.ts';
import type { ControllerContext, EventRecorder, FeatureGates, Informer } from '../../../machinery/runtime/index.ts';
import type { PickerProtocol } from '../../shared/picker/index.ts';
import type { Expectations, ReadYourWrites, PodControl } from '../../shared/pod-control/index.ts';
import type { ReplicaKind, ReplicaOwner } from './kind.ts';
import type { Slots } from './slots.ts';

export interface ReplicaDeps<T extends ReplicaOwner> {
  readonly kind: ReplicaKind<T>;
  readonly context: ControllerContext;
  readonly gates: FeatureGates;
  readonly owners: Informer<T>;
  readonly pods: Informer<Pod>;
  readonly expectations: Expectations;
  readonly writes: ReadYourWrites;
  readonly control: PodControl;
  readonly events: EventRecorder;
  readonly picker: readonly PickerProtocol[];
  readonly slots: Slots;
  /** Most pods created or deleted in one pass. */
  readonly burst: number;
}
