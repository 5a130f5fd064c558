import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { controllerOf } from '../../api/core/owner.ts';
import { LWS } from '../../api/lws/types.ts';
import { type Target, targetOf } from './budget-index.ts';

const LEADER_WORKER_SETS = ['leaderworkerset.x-k8s.io/v1', 'apps.kruise.io/v1alpha1'];

/**
 * Every workload above a pod that a budget may name: its controller, the controller of that where it is a ReplicaSet or
 * StatefulSet, and the LeaderWorkerSet its labels name, which owns workers only through their leader.
 */
export function targetsAbove(pod: Pod, ownerOf: (owner: OwnerReference) => OwnerReference | undefined): Target[] {
  const direct = controllerOf(pod);
  const above = direct === undefined ? undefined : ownerOf(direct);
  const set = pod.metadata.labels?.[LWS.name];
  return [
    ...(direct === undefined ? [] : [targetOf(direct)]),
    ...(above === undefined ? [] : [targetOf(above)]),
    ...(set === undefined
      ? []
      : LEADER_WORKER_SETS.map((apiVersion) => targetOf({ apiVersion, kind: 'LeaderWorkerSet', name: set }))),
  ];
}
