import type { ManagedFieldsEntry } from '../../../api/generated/meta-v1.ts';
import type { ObjectNode } from '../../../api/schema/index.ts';
import { deepEqual, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { PatchError } from '../patch-error.ts';
import { type Conflict, conflictsOf } from './conflicts.ts';
import {
  containsPath,
  EMPTY_SET,
  type FieldSet,
  intersect,
  isEmptySet,
  subtract,
  subtractDeep,
  union,
} from './field-set.ts';
import { fieldSetOf } from './field-set-of.ts';
import { fieldsOfLastApplied, syncLastApplied } from './last-applied.ts';
import { encodeManagers, identityOf, type Manager, type Managers, storedManagers } from './managed-fields.ts';
import { mergeObjects } from './merge-values.ts';
import { compareChange, releaseFields, withoutUnowned } from './ownership.ts';
import { UnkeyedItemError } from './path-element.ts';
import { removeFields, withNamedParents } from './remove.ts';
import { managedFieldsOf, recordUpdate, withoutManagedFields } from './track-update.ts';
import { formatTypeErrors, typeErrors } from './validate.ts';

export interface ApplyRequest {
  /** The stored object; undefined when apply creates it. */
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly node: ObjectNode;
  readonly manager: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource?: string | undefined;
  readonly force: boolean;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly resetFields?: FieldSet | undefined;
}

export type ApplyOutcome =
  | { readonly applied: true; readonly object: JsonObject; readonly managedFields: ManagedFieldsEntry[] }
  | { readonly applied: false; readonly conflicts: readonly Conflict[] };

/**
 * Server-side apply. What the configuration sets is set and owned; what this manager applied before and now leaves
 * out is removed unless someone else owns it; a field owned by another with a different value is a conflict, unless
 * forced. Throws PatchError when the configuration does not fit the schema.
 */
export function applyServerSide(request: ApplyRequest): ApplyOutcome {
  checkConfig(request);
  try {
    const outcome = attempt(request, request.force);
    if (outcome.applied || request.manager !== 'kubectl' || request.live === undefined) return finish(request, outcome);
    const allowed = fieldsOfLastApplied(request.live, request.node, request.apiVersion);
    if (allowed === undefined) return outcome;
    const conflicts = outcome.conflicts.filter(({ path }) => !containsPath(allowed, path));
    return conflicts.length > 0 ? { applied: false, conflicts } : finish(request, attempt(request, true));
  } catch (error) {
    if (!(error instanceof UnkeyedItemError)) throw error;
    throw new PatchError('InternalError', `failed to create typed live object: ${error.message}`, { cause: error });
  }
}

function finish({ manager, config }: ApplyRequest, outcome: ApplyOutcome): ApplyOutcome {
  return outcome.applied && manager === 'kubectl'
    ? { ...outcome, object: syncLastApplied(outcome.object, config) }
    : outcome;
}

function checkConfig({ config, node, apiVersion, kind }: ApplyRequest): void {
  if (config.apiVersion !== apiVersion) {
    throw new PatchError(
      'BadRequest',
      `Incorrect version specified in apply patch. Specified patch version: ${text(config.apiVersion)}, expected: ${apiVersion}`,
    );
  }
  const metadata = isObject(config.metadata) ? config.metadata : {};
  // What is no list of entries is none, and found fault with by the schema, where it minds: it does not mind null in one.
  if (Array.isArray(metadata.managedFields) && metadata.managedFields.every(isObject)) {
    throw new PatchError('BadRequest', 'metadata.managedFields must be nil');
  }
  const errors = typeErrors(config, node);
  if (errors.length > 0) {
    const name = `${text(metadata.namespace)}/${text(metadata.name)}; ${apiVersion}, Kind=${kind}`;
    throw new PatchError('InternalError', `failed to create typed patch object (${name}): ${formatTypeErrors(errors)}`);
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function attempt(request: ApplyRequest, force: boolean): ApplyOutcome {
  const { config, node, manager, apiVersion, subresource = '', resetFields = EMPTY_SET, now } = request;
  const live = withoutManagedFields(request.live ?? {});
  const managers = startingManagers(request);
  const name = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const id = identityOf(name);
  const previous = managers.get(id);
  const fields = subtractDeep(fieldSetOf(config, node), resetFields);
  const writer: Manager = { ...name, time: previous?.time, fields };
  const claimed = new Map(managers).set(id, writer);

  const merged = mergeObjects(live, config, node);
  const object = previous === undefined ? merged : prune(merged, claimed, previous.fields, node);
  const comparison = compareChange({ before: live, after: object, node, resetFields });
  const { managers: remaining, taken } = releaseFields(claimed, id, comparison);
  if (taken.size > 0 && !force) return { applied: false, conflicts: conflictsOf(taken, claimed) };

  const owned = withoutUnowned(fields);
  const result = new Map(remaining);
  const isChange = request.live === undefined || previous === undefined || !deepEqual(live, object);
  if (isEmptySet(owned)) result.delete(id);
  else result.set(id, { ...writer, fields: owned, time: isChange ? now : previous.time });
  return { applied: true, object, managedFields: encodeManagers(result) };
}

/** An object nobody tracked so far belongs to `before-first-apply`. */
function startingManagers({ live, node, apiVersion, now }: ApplyRequest): Managers {
  if (live === undefined) return new Map();
  const managers = storedManagers(managedFieldsOf(live) ?? []);
  if (managers.size > 0) return managers;
  const update = { before: undefined, after: live, node, manager: 'before-first-apply', apiVersion, now };
  return recordUpdate(managers, update);
}

/**
 * Removes what the manager applied last time and nobody claims now. Removal works on whole named fields, so what
 * others own inside them, or what nobody ever applied, is put back.
 */
function prune(merged: JsonObject, managers: Managers, last: FieldSet, node: ObjectNode): JsonObject {
  if (isEmptySet(last)) return merged;
  const named = (set: FieldSet): FieldSet => withNamedParents(set, node);
  const lastNamed = named(last);
  const mergedSet = named(fieldSetOf(merged, node));
  const keep = (object: JsonObject): FieldSet => named(fieldSetOf(object, node));
  let managed: FieldSet = EMPTY_SET;
  for (const { fields } of managers.values()) managed = union(managed, fields);
  const bare = removeFields(merged, lastNamed, node);
  const owned = removeFields(merged, subtract(mergedSet, union(keep(bare), named(managed))), node);
  return removeFields(merged, intersect(subtract(mergedSet, keep(owned)), lastNamed), node);
}
