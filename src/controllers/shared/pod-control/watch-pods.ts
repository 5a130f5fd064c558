import { controllerOf, type Owned } from '../../../api/core/owner.ts';
import { isPodReady } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import { type Informer, type Wake, type Watch, watch } from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import type { Expectations } from './expectations.ts';

export interface WatchPodsOptions<O extends KubeObject & Owned> {
  readonly pods: Informer<Pod>;
  readonly owners: Informer<O>;
  readonly ownerType: ResourceType<O>;
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
export function watchPods<O extends KubeObject & Owned>(options: WatchPodsOptions<O>): Watch {
  const { expectations, minReadySecondsOf = () => 0, owners, ownerType, pods, selects } = options;

  const ownerOf = (pod: Pod, reference: OwnerReference | undefined): O | undefined => {
    if (reference?.kind !== ownerType.kind) return undefined;
    const owner = owners.get({ namespace: pod.metadata.namespace, name: reference.name });
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  };
  const selectingOwners = (pod: Pod): string[] =>
    owners.list(pod.metadata.namespace).flatMap((owner) => (selects(owner, pod) ? [keyOf(owner)] : []));
  const deleted = (pod: Pod): string[] => {
    const owner = ownerOf(pod, controllerOf(pod));
    if (owner === undefined) return [];
    expectations.deletionObserved(keyOf(owner), keyOf(pod));
    return [keyOf(owner)];
  };
  const changed = (pod: Pod, old: Pod): Wake[] => {
    const labelsChanged = !deepEqual(pod.metadata.labels, old.metadata.labels);
    if (pod.metadata.deletionTimestamp) return [...deleted(pod), ...(labelsChanged ? deleted(old) : [])];
    const reference = controllerOf(pod);
    const oldReference = controllerOf(old);
    const ownerChanged = !deepEqual(reference, oldReference);
    const oldOwner = ownerChanged ? ownerOf(old, oldReference) : undefined;
    const wakes: Wake[] = oldOwner === undefined ? [] : [keyOf(oldOwner)];
    if (reference === undefined) return labelsChanged || ownerChanged ? [...wakes, ...selectingOwners(pod)] : wakes;
    const owner = ownerOf(pod, reference);
    if (owner === undefined) return wakes;
    wakes.push(keyOf(owner));
    const minReadySeconds = minReadySecondsOf(owner);
    if (minReadySeconds > 0 && !isPodReady(old) && isPodReady(pod)) {
      wakes.push({ key: keyOf(owner), afterMs: minReadySeconds * 1000 });
    }
    return wakes;
  };

  return watch(pods, {
    added(pod) {
      if (pod.metadata.deletionTimestamp) return deleted(pod);
      const reference = controllerOf(pod);
      if (reference === undefined) return selectingOwners(pod);
      const owner = ownerOf(pod, reference);
      if (owner === undefined) return;
      expectations.creationObserved(keyOf(owner));
      return keyOf(owner);
    },
    updated: (pod, old) =>
      pod.metadata.uid === old.metadata.uid ? changed(pod, old) : [...deleted(old), ...changed(pod, old)],
    deleted,
  });
}

/** Wakes an owner on its own events; one that is gone, or replaced by another of its name, is expected nothing of. */
export function watchOwners<O extends KubeObject>(owners: Informer<O>, expectations: Expectations): Watch {
  return watch(owners, {
    added: keyOf,
    updated(owner, old) {
      if (owner.metadata.uid !== old.metadata.uid) expectations.forget(keyOf(old));
      return keyOf(owner);
    },
    deleted(owner) {
      expectations.forget(keyOf(owner));
      return keyOf(owner);
    },
  });
}
