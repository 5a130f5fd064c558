import { controllerOf, type Owned } from '../../api/core/owner.ts';
import { isPodReady } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../api/resource.ts';
import type { Informer, WorkQueue } from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { Expectations } from './expectations.ts';

export interface WatchPodsOptions<O extends KubeObject & Owned> {
  readonly pods: Informer<Pod>;
  readonly owners: Informer<O>;
  readonly ownerType: ResourceType<O>;
  readonly queue: WorkQueue;
  readonly expectations: Expectations;
  /** Does the owner select this pod? Asked for pods without a controller. */
  readonly selects: (owner: O, pod: Pod) => boolean;
  readonly minReadySecondsOf?: ((owner: O) => number) | undefined;
}

/**
 * Wakes owners when their pods change, and tells expectations what was seen:
 *
 *  - a pod that appears counts as a creation, one that starts terminating or vanishes as a deletion
 *  - a pod without controller wakes every owner that selects it, at first and when labels or owner change
 *  - a pod that changed its controller wakes the old one too
 *  - a pod that just turned Ready wakes its owner again when it becomes available
 */
export function watchPods<O extends KubeObject & Owned>(options: WatchPodsOptions<O>): void {
  const { expectations, minReadySecondsOf = () => 0, owners, ownerType, pods, queue, selects } = options;

  const ownerOf = (pod: Pod, reference: OwnerReference | undefined): O | undefined => {
    if (reference?.kind !== ownerType.kind) return undefined;
    const owner = owners.get({ namespace: pod.metadata.namespace, name: reference.name });
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  };
  const wakeSelectors = (pod: Pod): void => {
    for (const owner of owners.list(pod.metadata.namespace)) if (selects(owner, pod)) queue.add(keyOf(owner));
  };
  const deleted = (pod: Pod): void => {
    const owner = ownerOf(pod, controllerOf(pod));
    if (owner === undefined) return;
    expectations.deletionObserved(keyOf(owner), keyOf(pod));
    queue.add(keyOf(owner));
  };

  pods.addHandler({
    added(pod) {
      if (pod.metadata.deletionTimestamp) {
        deleted(pod);
        return;
      }
      const reference = controllerOf(pod);
      if (reference === undefined) {
        wakeSelectors(pod);
        return;
      }
      const owner = ownerOf(pod, reference);
      if (owner === undefined) return;
      expectations.creationObserved(keyOf(owner));
      queue.add(keyOf(owner));
    },
    updated(pod, old) {
      if (pod.metadata.uid !== old.metadata.uid) deleted(old);
      const labelsChanged = !deepEqual(pod.metadata.labels, old.metadata.labels);
      if (pod.metadata.deletionTimestamp) {
        deleted(pod);
        if (labelsChanged) deleted(old);
        return;
      }
      const reference = controllerOf(pod);
      const oldReference = controllerOf(old);
      const ownerChanged = !deepEqual(reference, oldReference);
      if (ownerChanged) {
        const oldOwner = ownerOf(old, oldReference);
        if (oldOwner !== undefined) queue.add(keyOf(oldOwner));
      }
      if (reference === undefined) {
        if (labelsChanged || ownerChanged) wakeSelectors(pod);
        return;
      }
      const owner = ownerOf(pod, reference);
      if (owner === undefined) return;
      queue.add(keyOf(owner));
      const minReadySeconds = minReadySecondsOf(owner);
      if (minReadySeconds > 0 && !isPodReady(old) && isPodReady(pod)) {
        queue.addAfter(keyOf(owner), minReadySeconds * 1000);
      }
    },
    deleted,
  });
}
