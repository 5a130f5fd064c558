/** The one way an existing object changes: PUT, every kind of patch, status, scale and the other subresources. */
import {
  deepClone,
  deepEqual,
  FieldPath,
  invalid as invalidValue,
  type Issue,
  type JsonObject,
} from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';
import { type Call, fieldManagerOf, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import { conflict, invalid, notFound } from '../exchange/status.ts';
import { converting } from '../stored/converting.ts';
import { isReadyToGo } from '../stored/deletion.ts';
import { ordered, putObject, removeObject } from '../stored/encoding.ts';
import {
  askedRevision,
  bumpGeneration,
  carryMetadata,
  dropDuplicateOwners,
  validateMetadata,
  validateMetadataUpdate,
} from '../stored/metadata.ts';
import { admit, admitInTransaction, attributesOf, validateAdmission } from './admit.ts';
import { readServed, toStored } from './body.ts';
import { nextPart } from './parts.ts';
import { checkIdentity, createObject, DryRun, optionsOf, respondWithWritten, type Written } from './create.ts';

/** How a write treats the parts of an object. */
export interface UpdateRules {
  /** Copies into `object` what this write may not touch. */
  protect(object: ApiObject, old: ApiObject): void;
  validate(object: ApiObject, old: ApiObject): Issue[];
  readonly bumpsGeneration: boolean;
}

export interface UpdatePlan {
  /** The new object from the old; called again on a newer one when another write came first. Must return a fresh object. */
  compute(old: ApiObject): ApiObject | Promise<ApiObject>;
  readonly rules: UpdateRules;
  readonly optionsKind: 'UpdateOptions' | 'PatchOptions';
  /** A PUT that must carry a resourceVersion. */
  readonly needsRevision?: boolean;
  /** managedFields were set by `compute` already (server-side apply). */
  readonly fieldsRecorded?: boolean;
  /** Also runs in the transaction, on the object about to be written. */
  inTransaction?(object: ApiObject, old: ApiObject): void;
}

const MAX_TRIES = 12;

export async function update(call: Call): Promise<ApiResponse> {
  const name = nameOf(call);
  const given = readServed(call);
  const read = nextPart(call);
  if (read !== undefined) await read;
  checkIdentity(call, given);
  const key = objectKey(call.resource, call.info.namespace, name);
  if (call.resource.strategy.createOnUpdate && call.context.store.peek(key) === undefined) {
    delete given.metadata.resourceVersion;
    if (given.metadata.uid) throw conflict(call.resource, name, 'there is no object with the uid that was asked for');
    const object = await converting(() => toStored(call, given));
    return respondWithWritten(call, 201, await createObject(call, object, { kind: 'UpdateOptions' }));
  }
  const needsRevision = call.resource.strategy.unconditionalUpdate === false || call.version.needsRevision === true;
  return replaceBy(call, given, { rules: mainRules(call), needsRevision });
}

/** A PUT of a subresource. */
export function updatePart(call: Call, rules: UpdateRules, needsRevision = false): Promise<ApiResponse> {
  const given = readServed(call);
  checkIdentity(call, given);
  return replaceBy(call, given, { rules, needsRevision });
}

async function replaceBy(
  call: Call,
  given: ApiObject,
  { needsRevision, rules }: { readonly rules: UpdateRules; readonly needsRevision: boolean },
): Promise<ApiResponse> {
  const written = await updateObject(call, {
    compute: (old) => toStored(call, deepClone(given), old),
    rules,
    optionsKind: 'UpdateOptions',
    needsRevision,
  });
  return respondWithWritten(call, 200, written);
}

/** Writes through the main resource keep the stored status. */
export function mainRules(call: Call): UpdateRules {
  const { resource, context } = call;
  const { strategy } = resource;
  const keepsStatus = resource.subresources.has('status') && !strategy.writesStatus;
  return {
    protect(object, old) {
      if (keepsStatus) copyField(object, old, 'status');
      strategy.prepareForUpdate?.(object, old, { now: context.clock.now(), random: context.random });
    },
    validate: (object, old) => [
      ...(strategy.ratchets ? [] : (strategy.validate?.(object, call.version.name) ?? [])),
      ...(strategy.validateUpdate?.(object, old, call.version.name) ?? []),
    ],
    bumpsGeneration: true,
  };
}

export function copyField(object: ApiObject, old: ApiObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

export async function updateObject(call: Call, plan: UpdatePlan): Promise<Written> {
  const { context, resource, info } = call;
  const name = nameOf(call);
  const key = objectKey(resource, info.namespace, name);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const base = context.store.peek(key);
    if (base === undefined) throw notFound(resource, name);
    const written = await tryUpdate(call, { base, key, name, plan });
    if (written !== 'outrun') return written;
  }
  throw conflict(resource, name);
}

/** Thrown out of a transaction that found the object changed. */
class Outrun extends Error {}

/** What one try works with. */
interface Attempt {
  readonly base: StoredEntry;
  readonly key: string;
  readonly name: string;
  readonly plan: UpdatePlan;
}

/**
 * Takes no turn of the event loop between reading the base and the transaction unless a plugin needs one or the object
 * is large, so that other writes without webhooks never outrun each other.
 */
async function tryUpdate(call: Call, attempt: Attempt): Promise<Written | 'outrun'> {
  const { context, info } = call;
  const { base, name, plan } = attempt;
  const read = context.objects.read(base);
  const reading = converting(() => call.resource.inStoredVersion?.(read) ?? read);
  const old = reading instanceof Promise ? await reading : reading;
  const computed = converting(() => plan.compute(old));
  let object = computed instanceof Promise ? await computed : computed;
  const part = () => nextPart(call, base.value.length);
  const done = part();
  if (done !== undefined) await done;
  beginUpdate(call, attempt, { object, old });

  const attributes = attributesOf(call, {
    operation: 'UPDATE',
    name,
    namespace: info.namespace,
    object,
    oldObject: old,
    options: optionsOf(call, plan.optionsKind),
  });
  const pending = admit(call, attributes);
  if (pending !== undefined) await pending;
  if (attributes.object === undefined) throw new Error('An admission plugin removed the object of an update');
  if (pending !== undefined || attributes.object !== object) {
    object = attributes.object;
    plan.rules.protect(object, old);
    call.resource.strategy.defaults?.(object);
  }
  const admitted = part();
  if (admitted !== undefined) await admitted;
  validateUpdate(call, attempt, { object, old });
  const checking = validateAdmission(call, attributes);
  if (checking !== undefined) await checking;
  const ofKind = call.info.subresource === undefined ? call.resource.strategy.warnings?.(object, old) : undefined;
  const warnings = [...dropDuplicateOwners(object.metadata), ...(ofKind ?? [])];

  const valid = part();
  if (valid !== undefined) await valid;
  recordUpdate(call, plan, { object, old });
  const recorded = part();
  if (recorded !== undefined) await recorded;
  const written = await commitUpdate(call, attempt, { attributes, object, old, isOutdated: old !== read });
  if (written !== 'outrun') call.warnings.push(...warnings);
  return written;
}

interface Change {
  readonly object: ApiObject;
  readonly old: ApiObject;
}

/** Preconditions, defaults and what a client cannot change. */
function beginUpdate(call: Call, { base, name, plan }: Attempt, { object, old }: Change): void {
  const { resource, version } = call;
  version.carry?.(object, old);
  checkRevision(call, { object, old, base, name, plan });
  if (object.metadata.uid && object.metadata.uid !== old.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${object.metadata.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  resource.strategy.defaults?.(object);
  carryMetadata(resource, object.metadata, old.metadata);
  plan.rules.protect(object, old);
}

function validateUpdate({ resource }: Call, { name, plan }: Attempt, { object, old }: Change): void {
  shareUnchanged(object, old);
  if (plan.rules.bumpsGeneration) bumpGeneration(resource, object, old);
  const issues = [
    ...validateMetadata(resource, object.metadata, old.metadata),
    ...validateMetadataUpdate(object.metadata, old.metadata),
    ...plan.rules.validate(object, old),
  ];
  if (issues.length > 0) throw invalid(resource, name, issues);
}

function recordUpdate(call: Call, plan: UpdatePlan, { object, old }: Change): void {
  const { context, info, resource, version } = call;
  object.metadata.resourceVersion = old.metadata.resourceVersion as string;
  if (plan.fieldsRecorded === true) return;
  context.codec.fields?.recordUpdate({
    resource,
    version: version.name,
    subresource: info.subresource,
    old,
    object,
    manager: fieldManagerOf(call),
    now: context.clock.now(),
  });
}

async function commitUpdate(
  call: Call,
  { base, key, plan }: Attempt,
  {
    attributes,
    object,
    old,
    isOutdated,
  }: Change & {
    readonly attributes: AdmissionAttributes;
    /** What is stored is in another version: it is written anew although nothing else changes. */
    readonly isOutdated: boolean;
  },
): Promise<Written | 'outrun'> {
  const { context, resource } = call;
  try {
    return await context.store.transact<Written>((transaction) => {
      const latest = transaction.get(key);
      if (latest?.revision !== base.revision) throw new Outrun();
      // Changes the object itself: no copy of it may have been made before.
      admitInTransaction(call, attributes, transaction);
      plan.inTransaction?.(object, old);
      if (call.options.dryRun) throw new DryRun();
      if (isReadyToGo(resource, object))
        return { entry: undefined, object: removeObject(context, transaction, { resource, key, object }) };
      if (!isOutdated && isUnchanged(object, old)) return { entry: latest, object: old };
      return { entry: putObject(context, transaction, { resource, key, object }), object };
    });
  } catch (error) {
    if (error instanceof Outrun) return 'outrun';
    if (error instanceof DryRun) return { entry: undefined, object: ordered(resource, object) };
    throw error;
  }
}

/**
 * Lets the new object take over from the old one what is the same in both. Nobody changes either from here on; every
 * comparison that follows is then over at a glance, and the two share the memory.
 */
function shareUnchanged(object: ApiObject, old: ApiObject): void {
  for (const key in object) if (key !== 'metadata') shareMember(object, old, key);
  for (const key in object.metadata) shareMember(object.metadata as JsonObject, old.metadata as JsonObject, key);
}

function shareMember(object: JsonObject, old: JsonObject, key: string): void {
  const value = object[key];
  const before = old[key];
  if (typeof value === 'object' && value !== before && deepEqual(value, before)) object[key] = before;
}

/** Nothing but the times in managedFields differs: writing would only wake watchers. */
function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  const { managedFields, ...metadata } = object.metadata;
  const { managedFields: oldFields, ...oldMetadata } = old.metadata;
  if (!deepEqual(metadata, oldMetadata)) return false;
  const withoutTimes = (fields: typeof managedFields) => fields?.map(({ time: _time, ...rest }) => rest);
  if (!deepEqual(withoutTimes(managedFields), withoutTimes(oldFields))) return false;
  return deepEqual({ ...object, metadata: null }, { ...old, metadata: null });
}

function checkRevision(
  call: Call,
  {
    object,
    base,
    name,
    plan,
  }: { object: ApiObject; old: ApiObject; base: StoredEntry; name: string; plan: UpdatePlan },
): void {
  const asked = askedRevision(object.metadata);
  if (asked === undefined && plan.needsRevision) {
    throw invalid(call.resource, name, [
      invalidValue(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
    ]);
  }
  if (asked === 'malformed') {
    throw invalid(call.resource, name, [
      invalidValue(FieldPath.of('metadata', 'resourceVersion'), object.metadata.resourceVersion, 'must be an integer'),
    ]);
  }
  if (asked !== undefined && asked !== base.revision) throw conflict(call.resource, name);
}
