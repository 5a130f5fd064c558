import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import type { DeleteOptions } from '../../../machinery/runtime/index.ts';
import { FOREGROUND, ORPHAN } from './graph.ts';

/** `waiting`: it exists, and is being deleted in the foreground. */
export type OwnerPresence = 'present' | 'absent' | 'waiting';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerPresence;
}

export interface CollectionQuestion {
  readonly owners: readonly Owner[];
  readonly finalizers: readonly string[];
  readonly hasDependents: boolean;
  /** One of its dependents waits for it while it waits for an owner: a circle, or may be one. */
  readonly dependentWaits: boolean;
}

export type Verdict =
  | { readonly action: 'keep'; readonly reason: 'NoOwners' | 'OwnersPresent' }
  | { readonly action: 'detach'; readonly reason: 'SomeOwnersGone'; readonly uids: readonly string[] }
  | {
      readonly action: 'delete';
      readonly reason: 'OwnerWaitsForDependents' | 'OwnersGone';
      readonly propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>;
      /** First make its references non-blocking, or a circle would wait for itself for ever. */
      readonly unblock: boolean;
    };

/**
 * Decides what becomes of an object whose owners changed. First match wins:
 *  1. no owners: keep
 *  2. an owner is present: keep, and drop the references to owners that are gone or on their way out
 *  3. an owner waits for its dependents and this object has dependents itself: delete in the foreground, so that the
 *     owner outlasts all of them; non-blocking first if that would close a circle
 *  4. otherwise all owners are gone or going: delete, as the object's own finalizers ask, else in the background
 */
export function decide({ owners, finalizers, hasDependents, dependentWaits }: CollectionQuestion): Verdict {
  if (owners.length === 0) return { action: 'keep', reason: 'NoOwners' };
  const leaving = owners.filter(({ state }) => state !== 'present').map(({ reference }) => reference.uid);
  if (leaving.length < owners.length) {
    return leaving.length === 0
      ? { action: 'keep', reason: 'OwnersPresent' }
      : { action: 'detach', reason: 'SomeOwnersGone', uids: leaving };
  }
  if (hasDependents && owners.some(({ state }) => state === 'waiting')) {
    return {
      action: 'delete',
      reason: 'OwnerWaitsForDependents',
      propagationPolicy: 'Foreground',
      unblock: dependentWaits,
    };
  }
  const propagationPolicy = finalizers.includes(ORPHAN)
    ? 'Orphan'
    : finalizers.includes(FOREGROUND)
      ? 'Foreground'
      : 'Background';
  return { action: 'delete', reason: 'OwnersGone', propagationPolicy, unblock: false };
}
