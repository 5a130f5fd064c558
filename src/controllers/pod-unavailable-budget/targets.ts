import { controllerOf } from '../../api/core/owner.ts';
import type { ReplicaSet, StatefulSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { LWS } from '../../api/lws/types.ts';
import { type Target, targetOf } from '../../decisions/unavailability/index.ts';
import type { Informer } from '../../machinery/runtime/index.ts';

export interface OwnerSources {
  readonly replicaSets: Pick<Informer<ReplicaSet>, 'get'>;
  readonly statefulSets: Pick<Informer<StatefulSet>, 'get'>;
}

/**
 * Every workload above a pod that a budget may name: its controller, the controller of that where it is a ReplicaSet or
 * StatefulSet, and the LeaderWorkerSet its labels name, which owns workers only through their leader.
 */
export function targetsAbove(pod: Pod, { replicaSets, statefulSets }: OwnerSources): Target[] {
  const { labels, namespace } = pod.metadata;
  const found: Target[] = [];
  const direct = controllerOf(pod);
  if (direct !== undefined) {
    found.push(targetOf(direct));
    const above = ownerAbove(direct, namespace, { replicaSets, statefulSets });
    if (above !== undefined) found.push(targetOf(above));
  }
  const set = labels?.[LWS.name];
  if (set !== undefined) {
    for (const apiVersion of ['leaderworkerset.x-k8s.io/v1', 'apps.kruise.io/v1alpha1']) {
      found.push(targetOf({ apiVersion, kind: 'LeaderWorkerSet', name: set }));
    }
  }
  return found;
}

function ownerAbove(
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
