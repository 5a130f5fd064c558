import { controllerReference } from '../../../api/core/owner.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { podType, statefulSetType } from '../../../api/resource-types.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import { isInRange, ordinalOf } from './identity.ts';

export type RetentionVerdict =
  | { readonly reason: 'UpToDate' | 'OwnerReplaced' }
  | { readonly reason: 'ConflictingController' | 'PolicyChanged'; readonly ownerReferences: OwnerReference[] };

/**
 * Who a claim should belong to, so that garbage collection carries out the retention policy:
 *  1. an owner of our name but another UID is being collected: wait
 *  2. another controller owns it: our references go, the policy does not apply
 *  3. otherwise the set owns it while whenDeleted is Delete and the pod is in range; the pod, once it is scaled away
 *     under whenScaled Delete; nobody under Retain
 */
export function decideRetention(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): RetentionVerdict {
  const references = claim.metadata.ownerReferences ?? [];
  const isSet = ({ kind, name }: OwnerReference): boolean => kind === 'StatefulSet' && name === set.metadata.name;
  const isPod = ({ kind, name }: OwnerReference): boolean => kind === 'Pod' && name === pod.metadata.name;
  const others = references.filter((reference) => !isSet(reference) && !isPod(reference));
  const stale = references.some(
    (reference) =>
      (isSet(reference) && reference.uid !== set.metadata.uid) ||
      (isPod(reference) && reference.uid !== pod.metadata.uid),
  );
  if (stale) return { reason: 'OwnerReplaced' };

  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const retains = whenDeleted === 'Retain' && whenScaled === 'Retain';
  if (!retains && others.some(({ controller }) => controller)) {
    return others.length === references.length
      ? { reason: 'UpToDate' }
      : { reason: 'ConflictingController', ownerReferences: others };
  }
  const scaledAway = !isInRange(set, ordinalOf(pod));
  const wanted: OwnerReference[] = [];
  if (whenScaled === 'Delete' && scaledAway) wanted.push(controllerReference(podType, pod));
  else if (whenDeleted === 'Delete') wanted.push(controllerReference(statefulSetType, set));
  const current = references.filter((reference) => !others.includes(reference));
  const uids = (list: readonly OwnerReference[]) =>
    list.map(({ controller, uid }) => `${uid} ${controller === true}`).toSorted();
  return deepEqual(uids(current), uids(wanted))
    ? { reason: 'UpToDate' }
    : { reason: 'PolicyChanged', ownerReferences: [...others, ...wanted] };
}

/** A claim that still belongs to the pod's predecessor must go before the pod may come back. */
export function isClaimStale(claim: PersistentVolumeClaim, podName: string): boolean {
  return (claim.metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'Pod' && name === podName);
}
