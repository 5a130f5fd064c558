/**
 * Deleting one object inside a transaction, so that a caller (DELETE, deletecollection, eviction) can decide and delete
 * in one step.
 *
 * Rules in order: preconditions; graceful kinds are marked with a deadline; finalizers, including those the propagation
 * policy adds, keep the object; otherwise it is removed.
 */
import { deepClone, formatTime } from '../../machinery/values/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { StoredWrites } from './kind-view.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';
import { conflict, notFound } from '../exchange/status.ts';
import type { ObjectParts } from './decode.ts';
import { type ObjectWrite, putObject, removeParts } from './encoding.ts';
import { withManagedFields } from './object-cache.ts';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

export interface DeletionOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: PropagationPolicy | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
}

export interface DeletionOutcome {
  /** Gone, as opposed to marked. */
  readonly removed: boolean;
  /** Last state when removed, marked state otherwise. */
  readonly object: () => ApiObject;
  /** The marked entry; the entry as it was when nothing had to change. */
  readonly entry: StoredEntry | undefined;
}

export interface DeletionTarget {
  readonly resource: Resource;
  readonly key: string;
  readonly name: string;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** `state` stands for what is stored, with changes that the deletion writes along. */
export function deleteInTransaction(
  stored: StoredWrites,
  transaction: Transaction,
  { target, options, state }: { target: DeletionTarget; options: DeletionOptions; state?: ObjectParts },
): DeletionOutcome {
  const { resource, key, name } = target;
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(resource, name);
  const { object: current, managedFields } = state ?? stored.objects.readParts(entry);
  checkPreconditions(resource, current, options);

  // Only metadata changes here, and never in depth; a kind that marks more gets a copy it may change.
  const marksMore = resource.strategy.markDeleting !== undefined;
  const object: ApiObject = marksMore ? deepClone(current) : { ...current, metadata: { ...current.metadata } };
  const { metadata } = object;
  const finalizersChanged = applyPropagation(resource, object, options);
  const held = (metadata.finalizers?.length ?? 0) > 0 || (resource.strategy.specFinalizers?.(object).length ?? 0) > 0;

  const grace = resource.strategy.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0;
  const wasMarked = Boolean(current.metadata.deletionTimestamp);
  const remaining = current.metadata.deletionGracePeriodSeconds ?? 0;
  const now = stored.clock.now();

  if (wasMarked) {
    // A second delete may only shorten the wait; with finalizers left it changes nothing else.
    const shortens = resource.strategy.gracePeriod !== undefined && grace < remaining;
    if (shortens && (grace > 0 || held)) {
      metadata.deletionTimestamp = formatTime(
        shortened(metadata.deletionTimestamp as string, { remaining, grace, now }),
      );
      metadata.deletionGracePeriodSeconds = grace;
      return marked(stored, transaction, { resource, key, object, managedFields });
    }
    if (grace > 0 || held) {
      return finalizersChanged
        ? marked(stored, transaction, { resource, key, object, managedFields })
        : outcome(stored, entry);
    }
  } else if (grace > 0 || held) {
    metadata.deletionTimestamp = formatTime(now + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    if (resource.strategy.generation !== undefined) metadata.generation = (metadata.generation ?? 0) + 1;
    resource.strategy.markDeleting?.(object);
    return marked(stored, transaction, { resource, key, object, managedFields });
  }
  const last = removeParts(stored, transaction, { resource, key, object, managedFields });
  return { removed: true, object: () => withManagedFields(last, managedFields), entry: undefined };
}

function marked(stored: StoredWrites, transaction: Transaction, write: ObjectWrite): DeletionOutcome {
  return outcome(stored, putObject(stored, transaction, write));
}

function outcome({ objects }: StoredWrites, entry: StoredEntry): DeletionOutcome {
  return { removed: false, object: () => objects.read(entry), entry };
}

/** The deadline counted again from the first request, but never in the past. */
function shortened(
  deadline: string,
  { remaining, grace, now }: { remaining: number; grace: number; now: number },
): number {
  const requested = Date.parse(deadline) - remaining * 1000;
  return Math.max(requested + grace * 1000, now);
}

function checkPreconditions(resource: Resource, { metadata }: ApiObject, { preconditions }: DeletionOptions): void {
  if (preconditions === undefined || preconditions === null) return;
  const { uid, resourceVersion } = preconditions;
  const byKind = { ...resource, plural: resource.kind, group: resource.group };
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      byKind,
      metadata.name ?? '',
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      byKind,
      metadata.name ?? '',
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Returns whether the finalizers changed. */
function applyPropagation(resource: Resource, { metadata }: ApiObject, options: DeletionOptions): boolean {
  const collection = resource.strategy.garbageCollection ?? 'Background';
  if (collection === 'Unsupported') return false;
  const before = metadata.finalizers ?? [];
  const policy = propagationOf(before, collection, options);
  const kept = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === 'Orphan') kept.push(ORPHAN);
  if (policy === 'Foreground') kept.push(FOREGROUND);
  const changed = kept.length !== before.length || kept.some((finalizer) => !before.includes(finalizer));
  if (!changed) return false;
  if (kept.length > 0) metadata.finalizers = kept;
  else delete metadata.finalizers;
  return true;
}

function propagationOf(
  finalizers: readonly string[],
  fallback: 'Background' | 'Orphan',
  { propagationPolicy, orphanDependents }: DeletionOptions,
): PropagationPolicy {
  if (propagationPolicy !== undefined && propagationPolicy !== null) return propagationPolicy;
  if (orphanDependents !== undefined && orphanDependents !== null) return orphanDependents ? 'Orphan' : 'Background';
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  if (finalizers.includes(FOREGROUND)) return 'Foreground';
  return fallback;
}

/** The update that empties the finalizers of an object being deleted removes it. */
export function isReadyToGo(resource: Resource, { metadata, ...rest }: ApiObject): boolean {
  if (!metadata.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return (resource.strategy.specFinalizers?.({ metadata, ...rest }).length ?? 0) === 0;
}
