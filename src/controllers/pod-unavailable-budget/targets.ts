import { controllerOf } from '../../api/core/owner.ts';
import type { ReplicaSet, StatefulSet } from '../../api/generated/apps-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type { Informer } from '../../machinery/runtime/index.ts';

export interface OwnerSources {
  readonly replicaSets: Pick<Informer<ReplicaSet>, 'get'>;
  readonly statefulSets: Pick<Informer<StatefulSet>, 'get'>;
}

/** Who controls a ReplicaSet or StatefulSet that controls pods; undefined for any other owner. */
export function ownerAbove(
  { kind, name, uid }: OwnerReference,
  namespace: string | undefined,
  { replicaSets, statefulSets }: OwnerSources,
): OwnerReference | undefined {
  const middle =
    kind === 'ReplicaSet'
      ? replicaSets.get({ namespace, name })
      : kind === 'StatefulSet'
        ? statefulSets.get({ namespace, name })
        : undefined;
  return middle === undefined || middle.metadata.uid !== uid ? undefined : controllerOf(middle);
}
