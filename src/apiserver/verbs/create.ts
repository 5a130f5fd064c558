import { randomSuffix } from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import { authorizeCreate } from '../access/authorize.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';
import { type Call, fieldManagerOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject, ObjectMeta } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import { respondWithEntry, respondWithObject } from '../response/respond.ts';
import { alreadyExists, badRequest, failure, invalid } from '../exchange/status.ts';
import { converting } from '../stored/converting.ts';
import { ordered, putObject } from '../stored/encoding.ts';
import { withManagedFields } from '../stored/object-cache.ts';
import { dropDuplicateOwners, initMetadata, validateMetadata } from '../stored/metadata.ts';
import { checkNamespace } from '../stored/namespaces.ts';
import { admit, admitInTransaction, attributesOf, validateAdmission } from './admit.ts';
import { readObject } from './body.ts';
import { nextPart } from './parts.ts';

export async function create(call: Call): Promise<ApiResponse> {
  const reading = converting(() => readObject(call));
  const object = reading instanceof Promise ? await reading : reading;
  const read = nextPart(call);
  if (read !== undefined) await read;
  const written = await createObject(call, object, { kind: 'CreateOptions' });
  return respondWithWritten(call, 201, written);
}

/** What a write left behind: an entry on disk, or for a dry run only the object. */
export interface Written {
  readonly entry: StoredEntry | undefined;
  readonly object: ApiObject;
}

export function respondWithWritten(
  call: Call,
  status: number,
  { entry, object }: Written,
): ApiResponse | Promise<ApiResponse> {
  return converting(() =>
    entry === undefined ? respondWithObject(call, status, object) : respondWithEntry(call, status, entry),
  );
}

const GENERATED_NAME_TRIES = 8;
const GENERATED_PREFIX_MAX = 58;

/** Thrown out of a transaction to leave the store as it was. */
class DryRun extends Error {}

export interface CreateRules {
  readonly kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';
  /** managedFields are in the object already (server-side apply). */
  readonly fieldsRecorded?: boolean;
}

/** Its steps wait for nothing but what is asynchronous: the common create takes no turn before its transaction. */
export async function createObject(call: Call, given: ApiObject, options: CreateRules): Promise<Written> {
  const { context, info } = call;
  // The request was authorized for its own verb; a PUT or an apply to a new name is a create as well.
  const authorizing = info.verb === 'create' ? undefined : authorizeCreate(context.authorizer, call.user, info);
  if (authorizing !== undefined) await authorizing;
  const { askedVersion, now } = beginCreate(call, given);

  const attributes = attributesOf(call, {
    operation: 'CREATE',
    name: given.metadata.name || undefined,
    namespace: info.namespace,
    object: given,
    oldObject: undefined,
    options: optionsOf(call, options.kind),
  });
  const pending = admit(call, attributes);
  if (pending !== undefined) await pending;
  const { object } = attributes;
  if (object === undefined) throw new Error('An admission plugin removed the object of a create');
  const generated = nameIt(call, object.metadata);
  attributes.name = object.metadata.name;
  settleAdmitted(call, object, now);

  const admitted = nextPart(call);
  if (admitted !== undefined) await admitted;
  validateCreate(call, object);
  const checking = validateAdmission(call, attributes);
  if (checking !== undefined) await checking;

  if (!call.options.dryRun && isVersion(askedVersion)) {
    throw failure(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const valid = nextPart(call);
  if (valid !== undefined) await valid;
  const managedFields = options.fieldsRecorded === true ? undefined : recordCreate(call, object, now);
  const recorded = nextPart(call);
  if (recorded !== undefined) await recorded;
  return commitCreate(call, { attributes, object, managedFields, generated });
}

interface BegunCreate {
  /** The resourceVersion that the client sent. */
  readonly askedVersion: string | undefined;
  readonly now: number;
}

/** Identity, defaults and what the server owns of metadata. */
function beginCreate(call: Call, object: ApiObject): BegunCreate {
  const { context, resource, info } = call;
  checkIdentity(call, object);
  const { metadata } = object;
  const askedVersion = metadata.resourceVersion;
  delete metadata.resourceVersion;
  resource.strategy.defaults?.(object);
  checkNamespace(
    context,
    { get: (key) => context.store.peek(key) },
    { resource, namespace: info.namespace, name: metadata.name || metadata.generateName },
  );
  const now = context.clock.now();
  initMetadata(resource, metadata, { now, uid: context.newUid() });
  return { askedVersion, now };
}

/** Gives a name to what came without one, after plugins had their say; returns whether it did. */
function nameIt(call: Call, metadata: ObjectMeta): boolean {
  if (metadata.name || !metadata.generateName) return false;
  metadata.name = generateName(call, metadata.generateName);
  return true;
}

/** What neither client nor plugins decide, and defaults for what plugins added. */
function settleAdmitted({ context, resource, warnings }: Call, object: ApiObject, now: number): void {
  const { strategy } = resource;
  strategy.prepareForCreate?.(object, { now, random: context.random });
  strategy.defaults?.(object);
  warnings.push(...dropDuplicateOwners(object.metadata), ...(strategy.warnings?.(object, undefined) ?? []));
}

function validateCreate({ resource, version }: Call, object: ApiObject): void {
  const issues = [
    ...validateMetadata(resource, object.metadata),
    ...(resource.strategy.validate?.(object, version.name) ?? []),
  ];
  if (issues.length > 0) throw invalid(resource, object.metadata.name ?? '', issues);
}

interface ReadyCreate {
  readonly attributes: AdmissionAttributes;
  readonly object: ApiObject;
  readonly managedFields: string | undefined;
  readonly generated: boolean;
}

async function commitCreate(
  call: Call,
  { attributes, object, managedFields, generated }: ReadyCreate,
): Promise<Written> {
  const { context, resource, info } = call;
  const { metadata } = object;
  const commit = context.store.transact((transaction) => {
    checkNamespace(context, transaction, { resource, namespace: info.namespace, name: metadata.name });
    let key = objectKey(resource, metadata.namespace, metadata.name as string);
    let existing = transaction.get(key);
    for (let tries = 1; existing !== undefined && generated && tries < GENERATED_NAME_TRIES; tries += 1) {
      metadata.name = attributes.name = generateName(call, metadata.generateName as string);
      key = objectKey(resource, metadata.namespace, metadata.name);
      existing = transaction.get(key);
    }
    if (existing !== undefined) {
      const deleting = Boolean(context.objects.readWithoutManagedFields(existing).metadata.deletionTimestamp);
      throw alreadyExists(resource, metadata.name as string, deleting);
    }
    admitInTransaction(call, attributes, transaction);
    if (call.options.dryRun) throw new DryRun();
    return putObject(context, transaction, { resource, key, object, managedFields });
  });
  try {
    return { entry: await commit, object };
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
    return { entry: undefined, object: ordered(resource, withManagedFields(object, managedFields)) };
  }
}

/** A version that an object could have; anything else is passed over and replaced. */
const isVersion = (text: string | undefined): boolean => /^\d+$/.test(text ?? '') && Number(text) !== 0;

/** Who set what: as JSON text where the object says nothing about it itself, else into the object. */
function recordCreate(call: Call, object: ApiObject, now: number): string | undefined {
  const { context, resource, version } = call;
  const manager = fieldManagerOf(call);
  const { fields } = context.codec;
  if (object.metadata.managedFields === undefined) {
    return fields?.createdEntries({ resource, version: version.name, object, manager, now });
  }
  fields?.recordUpdate({
    resource,
    version: version.name,
    subresource: undefined,
    old: undefined,
    object,
    manager,
    now,
  });
  return undefined;
}

function generateName(call: Call, prefix: string): string {
  return prefix.slice(0, GENERATED_PREFIX_MAX) + randomSuffix(call.context.random);
}

/** The path decides name and namespace; a body that says otherwise is refused. */
export function checkIdentity(call: Call, object: ApiObject): void {
  const { info, resource } = call;
  const { metadata } = object;
  if (resource.namespaced) {
    if (metadata.namespace && metadata.namespace !== info.namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    metadata.namespace = info.namespace as string;
  } else {
    // It means nothing there, and kube-apiserver passes it over as well.
    delete metadata.namespace;
  }
  if (info.name !== undefined) checkName(metadata.name, info.name);
}

/** A body says its name, whatever it is said with, and it is that of the URL. */
export function checkName(given: unknown, onUrl: string): void {
  if (given === undefined || given === null || given === '') {
    throw badRequest(`the name of the object (${onUrl} based on URL) was undeterminable: name must be provided`);
  }
  if (given === onUrl) return;
  const shown = typeof given === 'string' ? given : JSON.stringify(given);
  throw badRequest(`the name of the object (${shown}) does not match the name on the URL (${onUrl})`);
}

export function optionsOf(call: Call, kind: string): Record<string, unknown> {
  const { dryRun, fieldManager, fieldValidation, force, query } = call.options;
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun && { dryRun: ['All'] }),
    ...(fieldManager !== undefined && { fieldManager }),
    ...(query.has('fieldValidation') && { fieldValidation }),
    ...(force !== undefined && { force }),
  };
}

export { DryRun };
