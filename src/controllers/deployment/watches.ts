import { controllerOf } from '../../api/core/owner.ts';
import type { Deployment, ReplicaSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { keyOf } from '../../api/resource.ts';
import type { WorkQueue } from '../../machinery/runtime/index.ts';
import { deepEqual, matches } from '../../machinery/values/index.ts';
import { cachedSelector, ownedBy } from '../pod-control/index.ts';
import { isRolling } from './limits.ts';
import type { DeploymentDeps } from './pass.ts';

type Watched = Pick<DeploymentDeps, 'deployments' | 'replicaSets' | 'pods'>;

/** Wakes Deployments on their own changes, those of their ReplicaSets, and when a Recreate has lost its last pod. */
export function watchDeployments({ deployments, pods, replicaSets }: Watched, queue: WorkQueue): void {
  const wake = (deployment: Deployment | undefined): void => {
    if (deployment !== undefined) queue.add(keyOf(deployment));
  };
  const ownerOf = (namespace: string | undefined, reference: OwnerReference | undefined): Deployment | undefined => {
    if (reference?.kind !== 'Deployment') return undefined;
    const deployment = deployments.get({ namespace, name: reference.name });
    return deployment?.metadata.uid === reference.uid ? deployment : undefined;
  };
  const wakeSelectors = ({ metadata }: ReplicaSet): void => {
    for (const deployment of deployments.list(metadata.namespace)) {
      const selector = cachedSelector(deployment.spec?.selector);
      if (selector.requirements.length > 0 && matches(selector, metadata.labels)) wake(deployment);
    }
  };

  deployments.addHandler({ added: wake, updated: wake, deleted: wake });
  replicaSets.addHandler({
    added(replicaSet) {
      const reference = controllerOf(replicaSet);
      if (reference !== undefined) wake(ownerOf(replicaSet.metadata.namespace, reference));
      else if (!replicaSet.metadata.deletionTimestamp) wakeSelectors(replicaSet);
    },
    updated(replicaSet, old) {
      const reference = controllerOf(replicaSet);
      const oldReference = controllerOf(old);
      const ownerChanged = !deepEqual(reference, oldReference);
      if (ownerChanged) wake(ownerOf(old.metadata.namespace, oldReference));
      if (reference !== undefined) wake(ownerOf(replicaSet.metadata.namespace, reference));
      else if (ownerChanged || !deepEqual(replicaSet.metadata.labels, old.metadata.labels)) wakeSelectors(replicaSet);
    },
    deleted: (replicaSet) => wake(ownerOf(replicaSet.metadata.namespace, controllerOf(replicaSet))),
  });
  pods.addHandler({
    deleted(pod: Pod) {
      const reference = controllerOf(pod);
      if (reference?.kind !== 'ReplicaSet') return;
      const replicaSet = replicaSets.get({ namespace: pod.metadata.namespace, name: reference.name });
      const deployment = replicaSet && ownerOf(replicaSet.metadata.namespace, controllerOf(replicaSet));
      if (deployment === undefined || isRolling(deployment)) return;
      const empty = ownedBy(replicaSets, deployment).every((owned) => ownedBy(pods, owned).length === 0);
      if (empty) wake(deployment);
    },
  });
}
