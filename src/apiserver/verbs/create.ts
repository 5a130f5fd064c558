import { randomSuffix } from '../../machinery/values/index.ts';
import type { Entry } from '../../storage/index.ts';
import { authorizeCreate } from '../authorize.ts';
import { type Call, fieldManagerOf } from '../call.ts';
import type { ApiResponse } from '../exchange.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import { respondWithEntry, respondWithObject } from '../response/respond.ts';
import { alreadyExists, badRequest, failure, invalid } from '../status.ts';
import { ordered, putObject } from '../stored/encoding.ts';
import { withManagedFields } from '../stored/object-cache.ts';
import { dropDuplicateOwners, initMetadata, validateMetadata } from '../stored/metadata.ts';
import { checkNamespace } from '../stored/namespaces.ts';
import { admit, admitInTransaction, attributesOf, validateAdmission } from './admit.ts';
import { readObject } from './body.ts';
import { nextPart } from './parts.ts';

export async function create(call: Call): Promise<ApiResponse> {
  const object = readObject(call);
  const read = nextPart(call);
  if (read !== undefined) await read;
  const written = await createObject(call, object, { kind: 'CreateOptions' });
  return respondWithWritten(call, 201, written);
}

/** What a write left behind: an entry on disk, or for a dry run only the object. */
export interface Written {
  readonly entry: Entry | undefined;
  readonly object: ApiObject;
}

export function respondWithWritten(call: Call, status: number, { entry, object }: Written): ApiResponse {
  return entry === undefined ? respondWithObject(call, status, object) : respondWithEntry(call, status, entry);
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

export async function createObject(call: Call, given: ApiObject, options: CreateRules): Promise<Written> {
  const { kernel, row, info } = call;
  let object = given;
  // The request was authorized for its own verb; a PUT or an apply to a new name is a create as well.
  const authorizing = info.verb === 'create' ? undefined : authorizeCreate(kernel.authorizer, call.user, info);
  if (authorizing !== undefined) await authorizing;
  checkIdentity(call, object);
  const { metadata } = object;
  const askedVersion = metadata.resourceVersion;
  delete metadata.resourceVersion;
  row.strategy.defaults?.(object);
  checkNamespace(
    kernel,
    { get: (key) => kernel.store.peek(key) },
    { row, namespace: info.namespace, name: metadata.name },
  );

  const now = kernel.clock.now();
  initMetadata(row, metadata, { now, uid: kernel.newUid() });
  const generated = !metadata.name && metadata.generateName !== undefined && metadata.generateName !== '';
  if (generated) metadata.name = generateName(call, metadata.generateName as string);

  const attributes = attributesOf(call, {
    operation: 'CREATE',
    name: generated ? undefined : metadata.name,
    namespace: info.namespace,
    object,
    oldObject: undefined,
    options: optionsOf(call, options.kind),
  });
  const pending = admit(call, attributes);
  if (pending !== undefined) await pending;
  if (attributes.object === undefined) throw new Error('An admission plugin removed the object of a create');
  object = attributes.object;
  row.strategy.prepareForCreate?.(object, { now, random: kernel.random });
  row.strategy.defaults?.(object);
  call.warnings.push(...dropDuplicateOwners(object.metadata), ...(row.strategy.warnings?.(object, undefined) ?? []));

  const admitted = nextPart(call);
  if (admitted !== undefined) await admitted;
  const replica = kernel.objects.shareWithLast(row, object);

  const issues = [
    ...validateMetadata(row, object.metadata, replica?.metadata),
    ...(row.strategy.validate?.(object, call.version.name, replica) ?? []),
  ];
  if (issues.length > 0) throw invalid(row, object.metadata.name ?? '', issues);
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

  const commit = kernel.store.transact((transaction) => {
    checkNamespace(kernel, transaction, { row, namespace: info.namespace, name: object.metadata.name });
    let key = objectKey(row, object.metadata.namespace, object.metadata.name as string);
    let existing = transaction.get(key);
    for (let tries = 1; existing !== undefined && generated && tries < GENERATED_NAME_TRIES; tries += 1) {
      object.metadata.name = generateName(call, object.metadata.generateName as string);
      key = objectKey(row, object.metadata.namespace, object.metadata.name);
      existing = transaction.get(key);
    }
    if (existing !== undefined) {
      const deleting = Boolean(kernel.objects.readLean(existing).metadata.deletionTimestamp);
      throw alreadyExists(row, object.metadata.name as string, deleting);
    }
    admitInTransaction(call, attributes, transaction);
    if (call.options.dryRun) throw new DryRun();
    const entry = putObject(kernel, transaction, { row, key, object, managedFields });
    kernel.objects.made(row, object);
    return entry;
  });
  try {
    return { entry: await commit, object };
  } catch (error) {
    if (error instanceof DryRun) {
      return { entry: undefined, object: ordered(row, withManagedFields(object, managedFields)) };
    }
    throw error;
  }
}

/** A version that an object could have; anything else is passed over and replaced. */
const isVersion = (text: string | undefined): boolean => /^\d+$/.test(text ?? '') && Number(text) !== 0;

/** Who set what: as JSON text where the object says nothing about it itself, else into the object. */
function recordCreate(call: Call, object: ApiObject, now: number): string | undefined {
  const { kernel, row, version } = call;
  const manager = fieldManagerOf(call);
  const { fields } = kernel.codec;
  if (object.metadata.managedFields === undefined) {
    return fields?.createdEntries({ row, version: version.name, object, manager, now });
  }
  fields?.recordUpdate({ row, version: version.name, subresource: undefined, old: undefined, object, manager, now });
  return undefined;
}

function generateName(call: Call, prefix: string): string {
  return prefix.slice(0, GENERATED_PREFIX_MAX) + randomSuffix(call.kernel.random);
}

/** The path decides name and namespace; a body that says otherwise is refused. */
export function checkIdentity(call: Call, object: ApiObject): void {
  const { info, row } = call;
  const { metadata } = object;
  if (row.namespaced) {
    if (metadata.namespace && metadata.namespace !== info.namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    metadata.namespace = info.namespace as string;
  }
  if (info.name === undefined) return;
  if (!metadata.name) {
    throw badRequest(`the name of the object (${info.name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== info.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${info.name})`);
  }
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
