import { controllerOf, controllerReference, type Owned } from '../../../api/core/owner.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import { type Client, type Informer, isInvalid, isNotFound } from '../../../machinery/runtime/index.ts';
import { matches, type Selector } from '../../../machinery/values/index.ts';
import { ownedOrOrphaned } from './owned.ts';
import type { ReadYourWrites } from './read-your-writes.ts';

type Child = KubeObject & Owned;

export interface ClaimOptions<T extends Child> {
  readonly client: Client;
  readonly owner: Child;
  readonly ownerType: ResourceType;
  /** Of the objects claimed: pods, ReplicaSets, ControllerRevisions. Needs `indexByController`. */
  readonly cache: Informer<T>;
  /** Hears of each object this claim wrote. */
  readonly writes: ReadYourWrites;
  readonly selector: Selector;
  /** Those that come into question. Default: all that the owner controls or nobody does. */
  readonly children?: readonly T[] | undefined;
  /** Beyond the selector, what makes a child ours (a StatefulSet looks at names). */
  readonly isMember?: ((child: T) => boolean) | undefined;
  /** Finalizers put on what is adopted and taken off what is released. */
  readonly finalizers?: readonly string[] | undefined;
}

/**
 * The children that belong to an owner, after adopting and releasing.
 *
 *  - controlled by another UID: left alone
 *  - ours and matching: claimed, also while the owner is terminating
 *  - ours, no longer matching: released, unless the owner is terminating
 *  - without controller, matching, same namespace, neither side terminating: adopted, after one live read of the
 *    owner showed it to be the same object and not terminating
 *  - anything else: left alone
 *
 * Throws when an adoption or release failed; the others have been tried by then.
 */
export async function claim<T extends Child>(options: ClaimOptions<T>): Promise<T[]> {
  const { cache, owner, selector, children = ownedOrOrphaned(cache, owner), isMember = () => true } = options;
  const claimed: T[] = [];
  const errors: unknown[] = [];
  let permission: Promise<void> | undefined;
  const belongs = (child: T): boolean => matches(selector, child.metadata.labels) && isMember(child);

  for (const child of children) {
    const controller = controllerOf(child);
    if (controller !== undefined && controller.uid !== owner.metadata.uid) continue;
    if (controller !== undefined && belongs(child)) {
      claimed.push(child);
      continue;
    }
    if (owner.metadata.deletionTimestamp) continue;
    try {
      if (controller !== undefined) {
        await release(child, options);
      } else if (canBeAdopted(child, owner) && belongs(child)) {
        permission ??= confirmOwner(options);
        await permission;
        claimed.push(await adopt(child, options));
      }
    } catch (error) {
      if (!isNotFound(error)) errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return claimed;
}

function canBeAdopted({ metadata }: Child, owner: Child): boolean {
  return !metadata.deletionTimestamp && metadata.namespace === owner.metadata.namespace;
}

/** The cache may show an owner that was deleted, or replaced under its name: only a live read settles it. */
async function confirmOwner<T extends Child>({ client, owner, ownerType }: ClaimOptions<T>): Promise<void> {
  const { name = '', namespace, uid } = owner.metadata;
  let live: KubeObject;
  try {
    live = await client.get(ownerType, { name, namespace });
  } catch (error) {
    throw new Error(`Cannot adopt for ${ownerType.kind} "${keyOf(owner)}": it could not be read`, { cause: error });
  }
  if (live.metadata.uid !== uid) {
    throw new Error(
      `Cannot adopt for ${ownerType.kind} "${keyOf(owner)}": original is gone: got uid ${live.metadata.uid}, wanted ${uid}`,
    );
  }
  if (live.metadata.deletionTimestamp) {
    throw new Error(
      `Cannot adopt for ${ownerType.kind} "${keyOf(owner)}": it has just been deleted at ${live.metadata.deletionTimestamp}`,
    );
  }
}

async function adopt<T extends Child>(child: T, options: ClaimOptions<T>): Promise<T> {
  const { cache, client, finalizers, owner, ownerType, writes } = options;
  const { name = '', namespace, uid } = child.metadata;
  const body = {
    metadata: {
      // The uid guards against a namesake that took the child's place.
      uid,
      ownerReferences: [controllerReference(ownerType, owner)],
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  };
  const written = await client.patch(cache.type, { name, namespace }, { type: 'strategic', body });
  writes.record(keyOf(owner), cache, written);
  return written;
}

async function release<T extends Child>(child: T, options: ClaimOptions<T>): Promise<void> {
  const { cache, client, finalizers, owner, writes } = options;
  const { name = '', namespace, uid } = child.metadata;
  const body = {
    metadata: {
      uid,
      ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
      ...(finalizers === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': finalizers }),
    },
  };
  try {
    const written = await client.patch(cache.type, { name, namespace }, { type: 'strategic', body });
    writes.record(keyOf(owner), cache, written);
  } catch (error) {
    // Gone, or replaced by a namesake: either way it is no longer ours.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
