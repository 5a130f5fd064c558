import type { DownscalePodPicker, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { PodTemplateSpec, ReplicationController } from '../../../api/generated/core-v1.ts';
import { replicaSetType, replicationControllerType } from '../../../api/resource-types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { fromLabels, nothing, type Selector } from '../../../machinery/values/index.ts';
import { cachedSelector } from '../../shared/pod-control/index.ts';

/** ReplicaSet and ReplicationController do the same thing; this is all that differs. */
export interface ReplicaKind<T extends ReplicaOwner = ReplicaOwner> {
  readonly type: ResourceType<T>;
  /** Component that events come from, and name of the queue. */
  readonly controller: string;
  selectorOf(owner: T): Selector;
  templateOf(owner: T): PodTemplateSpec | undefined;
  pickerOf(owner: T): DownscalePodPicker | undefined;
  /** Siblings of the same controller owner count for colocation. */
  readonly hasRelatives: boolean;
  readonly reportsTerminating: boolean;
}

export type ReplicaOwner = ReplicaSet | ReplicationController;

export const replicaSetKind: ReplicaKind<ReplicaSet> = {
  type: replicaSetType,
  controller: 'replicaset-controller',
  selectorOf: ({ spec }) => cachedSelector(spec?.selector),
  templateOf: ({ spec }) => spec?.template,
  pickerOf: ({ spec }) => spec?.downscalePodPicker,
  hasRelatives: true,
  reportsTerminating: true,
};

const rcSelectors = new WeakMap<object, Selector>();

export const replicationControllerKind: ReplicaKind<ReplicationController> = {
  type: replicationControllerType,
  controller: 'replication-controller',
  selectorOf({ spec }) {
    const labels = spec?.selector;
    if (labels === undefined) return nothing;
    const known = rcSelectors.get(labels) ?? fromLabels(labels);
    rcSelectors.set(labels, known);
    return known;
  },
  templateOf: ({ spec }) => spec?.template,
  pickerOf: () => undefined,
  hasRelatives: false,
  reportsTerminating: false,
};
