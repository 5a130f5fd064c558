import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { persistentVolumeClaimType } from '../../../api/resource-types.ts';
import { type Client, type EventRecorder, type Informer, isAlreadyExists } from '../../../machinery/runtime/index.ts';
import type { ReadYourWrites } from '../../shared/pod-control/index.ts';
import { claimsOf, ordinalOf } from './identity.ts';
import { decideRetention, isClaimStale } from './retention.ts';

export interface ClaimDeps {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly writes: ReadYourWrites;
}

/** Creates the claims a pod needs. Throws when one of them is on its way out. */
export async function ensureClaims(deps: ClaimDeps, set: StatefulSet, podName: string, ordinal: number): Promise<void> {
  const { claims, client, events, writes } = deps;
  for (const wanted of claimsOf(set, ordinal)) {
    const { name = '', namespace } = wanted.metadata;
    const found = claims.get({ namespace, name });
    if (found?.metadata.deletionTimestamp)
      throw new Error(`Cannot create pod "${podName}": pvc ${name} is being deleted`);
    if (found !== undefined) continue;
    try {
      writes.record(keyOf(set), claims, await client.create(persistentVolumeClaimType, wanted));
      const text = `Create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
      events.record(set, 'Normal', 'SuccessfulCreate', text);
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      const text = `Create Claim ${name} for Pod ${podName} in StatefulSet ${set.metadata.name} failed error: ${String(error)}`;
      events.record(set, 'Warning', 'FailedCreate', text);
      throw error;
    }
  }
}

/** Gives the pod's claims the owners its set's retention policy asks for. */
export async function retainClaims(deps: ClaimDeps, set: StatefulSet, pod: Pod): Promise<void> {
  const { claims, client, events, writes } = deps;
  for (const { metadata } of claimsOf(set, ordinalOf(pod))) {
    const claim = claims.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
    if (claim === undefined) continue;
    const verdict = decideRetention(claim, set, pod);
    if (!('ownerReferences' in verdict)) continue;
    if (verdict.reason === 'ConflictingController') {
      const text = `PersistentVolumeClaim ${metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`;
      events.record(set, 'Warning', 'ConflictingController', text);
    }
    const { ownerReferences } = verdict;
    const updated = { ...claim, metadata: { ...claim.metadata, ownerReferences } };
    writes.record(keyOf(set), claims, await client.update(persistentVolumeClaimType, updated));
  }
}

/** True while a claim still hangs on the pod that was scaled away. */
export function hasStaleClaim({ claims }: ClaimDeps, set: StatefulSet, podName: string, ordinal: number): boolean {
  if ((set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled ?? 'Retain') === 'Retain') return false;
  return claimsOf(set, ordinal).some(({ metadata }) => {
    const claim = claims.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
    return claim !== undefined && isClaimStale(claim, podName);
  });
}
