import type { ObjectMeta, OwnerReference } from '../../../api/generated/meta-v1.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { type Client, type DeleteOptions, existing, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import type { SeenObject } from './graph.ts';

const ATTEMPTS = 5;

/** An object by where it is and who it is: another one of the same name is not it. */
export interface LiveObject {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

/** Undefined when it is gone, or another object has its name. */
export async function getLive(client: Client, { type, uid, ...key }: LiveObject): Promise<SeenObject | undefined> {
  const live = await existing(client.get(type, key));
  return live?.metadata.uid === uid ? (live as SeenObject) : undefined;
}

/**
 * Changes metadata of the object as it is now; tries again when it changed meanwhile. `change` gives the fields to
 * replace, or undefined when there is nothing to do. A merge patch, because custom resources know no other.
 */
export async function editMetadata(
  client: Client,
  target: LiveObject,
  change: (metadata: ObjectMeta) => Partial<ObjectMeta> | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const live = await getLive(client, target);
    const fields = live && change(live.metadata);
    if (live === undefined || fields === undefined) return;
    const { uid, resourceVersion } = live.metadata;
    try {
      await client.patch(target.type, target, {
        type: 'merge',
        body: { metadata: { uid, resourceVersion, ...fields } },
      });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

export const withoutFinalizer =
  (finalizer: string) =>
  ({ finalizers = [] }: ObjectMeta): Partial<ObjectMeta> | undefined =>
    finalizers.includes(finalizer) ? { finalizers: finalizers.filter((other) => other !== finalizer) } : undefined;

export const withoutOwners =
  (uids: readonly string[]) =>
  ({ ownerReferences = [] }: ObjectMeta): Partial<ObjectMeta> | undefined => {
    const dropped = new Set(uids);
    const kept = ownerReferences.filter(({ uid }) => !dropped.has(uid));
    return kept.length < ownerReferences.length ? { ownerReferences: kept } : undefined;
  };

export const withNonBlockingOwners = ({ ownerReferences = [] }: ObjectMeta): Partial<ObjectMeta> | undefined =>
  ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    ? { ownerReferences: ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false })) }
    : undefined;

/**
 * Deletes exactly the object that was judged. If it changed since, but not in who owns it, the judgement still holds:
 * a pod whose status changes all the time must not escape. False when it was already gone.
 */
export async function deleteJudged(
  client: Client,
  target: LiveObject,
  judged: { readonly metadata: ObjectMeta; readonly propagationPolicy: DeleteOptions['propagationPolicy'] },
): Promise<boolean> {
  const { metadata, propagationPolicy } = judged;
  const { uid } = target;
  const options = (resourceVersion?: string): DeleteOptions => ({
    propagationPolicy,
    preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) },
  });
  try {
    await client.delete(target.type, target, options(metadata.resourceVersion));
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if (!isConflict(error)) throw error;
    const live = await getLive(client, target);
    if (live === undefined) return false;
    if (!sameOwners(live.metadata.ownerReferences, metadata.ownerReferences)) throw error;
    await client.delete(target.type, target, options());
    return true;
  }
}

function sameOwners(a: readonly OwnerReference[] = [], b: readonly OwnerReference[] = []): boolean {
  return deepEqual(a, b);
}
