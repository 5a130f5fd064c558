import type { PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** The claim that a volume of a pod stands on; one of its own has a name that is made of both. */
export function claimOf({ metadata }: Pod, { ephemeral, name, persistentVolumeClaim }: Volume): string | undefined {
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName;
  return ephemeral === undefined ? undefined : `${metadata.name}-${name}`;
}

/** The claims of a pod, by name. */
export const claimsOf = (pod: Pod): string[] =>
  (pod.spec?.volumes ?? []).flatMap((volume) => claimOf(pod, volume) ?? []);

/**
 * Whether a claim may not go yet because of this pod. One without a node does not hold it: no kubelet starts a pod whose
 * claim goes away. A pod that its kubelet is done with does not hold a claim of its own: each would wait for the other.
 */
export function holds(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec?.nodeName) return false;
  const { deletionGracePeriodSeconds, deletionTimestamp } = pod.metadata;
  const isShutDown = Boolean(deletionTimestamp) && deletionGracePeriodSeconds === 0;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (claimOf(pod, volume) !== claim.metadata.name) return false;
    if (volume.ephemeral === undefined) return true;
    const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller);
    return !isShutDown && owner?.uid === pod.metadata.uid;
  });
}
