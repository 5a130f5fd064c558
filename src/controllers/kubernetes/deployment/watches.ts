import { controllerOf } from '../../../api/core/owner.ts';
import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { type Watch, watch } from '../../../machinery/runtime/index.ts';
import { deepEqual, matches } from '../../../machinery/values/index.ts';
import { cachedSelector, ownedBy } from '../../shared/pod-control/index.ts';
import { isRolling } from './limits.ts';
import type { DeploymentDeps } from './pass.ts';

type Watched = Pick<DeploymentDeps, 'deployments' | 'replicaSets' | 'pods'>;

/** Wakes Deployments on their own changes, those of their ReplicaSets, and when a Recreate has lost its last pod. */
export function watchDeployments({ deployments, pods, replicaSets }: Watched): Watch[] {
  const ownerOf = (namespace: string | undefined, reference: OwnerReference | undefined): Deployment[] => {
    if (reference?.kind !== 'Deployment') return [];
    const deployment = deployments.get({ namespace, name: reference.name });
    return deployment?.metadata.uid === reference.uid ? [deployment] : [];
  };
  const selecting = ({ metadata }: ReplicaSet): Deployment[] =>
    deployments.list(metadata.namespace).filter(({ spec }) => {
      const selector = cachedSelector(spec?.selector);
      return selector.requirements.length > 0 && matches(selector, metadata.labels);
    });
  const changed = (replicaSet: ReplicaSet, old: ReplicaSet): Deployment[] => {
    const reference = controllerOf(replicaSet);
    const oldReference = controllerOf(old);
    const ownerChanged = !deepEqual(reference, oldReference);
    const before = ownerChanged ? ownerOf(old.metadata.namespace, oldReference) : [];
    if (reference !== undefined) return [...before, ...ownerOf(replicaSet.metadata.namespace, reference)];
    const isNews = ownerChanged || !deepEqual(replicaSet.metadata.labels, old.metadata.labels);
    return isNews ? [...before, ...selecting(replicaSet)] : before;
  };
  const withoutPods = (pod: Pod): Deployment[] => {
    const reference = controllerOf(pod);
    if (reference?.kind !== 'ReplicaSet') return [];
    const replicaSet = replicaSets.get({ namespace: pod.metadata.namespace, name: reference.name });
    if (replicaSet === undefined) return [];
    return ownerOf(replicaSet.metadata.namespace, controllerOf(replicaSet)).filter(
      (deployment) =>
        !isRolling(deployment) && ownedBy(replicaSets, deployment).every((owned) => ownedBy(pods, owned).length === 0),
    );
  };
  return [
    watch(deployments),
    watch(replicaSets, {
      added(replicaSet) {
        const reference = controllerOf(replicaSet);
        if (reference !== undefined) return ownerOf(replicaSet.metadata.namespace, reference).map(keyOf);
        return replicaSet.metadata.deletionTimestamp ? [] : selecting(replicaSet).map(keyOf);
      },
      updated: (replicaSet, old) => changed(replicaSet, old).map(keyOf),
      deleted: (replicaSet) => ownerOf(replicaSet.metadata.namespace, controllerOf(replicaSet)).map(keyOf),
    }),
    watch(pods, { deleted: (pod) => withoutPods(pod).map(keyOf) }),
  ];
}
