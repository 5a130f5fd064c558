import type { Schema } from '../../api/schema/index.ts';
import { formatTime, isObject, type JsonObject } from '../../machinery/values/index.ts';
import type { FieldManager } from '../context/codec.ts';
import type { ApiObject, ManagedFieldsEntry } from '../exchange/object.ts';
import {
  applyServerSide,
  conflictCauses,
  conflictMessage,
  createdFields,
  type FieldSet,
  PatchError,
  setOfPaths,
  trackUpdate,
  UnkeyedItemError,
} from '../patch/index.ts';
import { apiVersion, type Resource } from '../registry/resource.ts';
import { badRequest, failure } from '../exchange/status.ts';
import { DecodeError } from './decode-error.ts';
import { type KindSchema, kindSchemaOf, nodeOf } from './kind-schema.ts';
import { pruneCustom } from './structural/prune.ts';
import { conform } from './typed/conform.ts';

const STATUS_RESET = setOfPaths([['status']]);
const SPEC_RESET = setOfPaths([['spec']]);
const CUSTOM_STATUS_RESET = setOfPaths([['spec'], ['metadata']]);
/** What is asked for with a signing request never changes, so that nobody owns it, not even who made it. */
const SIGNING_REQUEST_RESET = new Map<string | undefined, FieldSet>([
  [undefined, setOfPaths([['spec'], ['status']])],
  ['status', setOfPaths([['spec'], ['status', 'conditions']])],
  ['approval', setOfPaths([['spec'], ['status', 'certificate']])],
]);

/** Fields an endpoint never writes, so that nobody comes to own them through it. */
function resetFieldsOf(resource: Resource, subresource: string | undefined): FieldSet | undefined {
  if (isSigningRequest(resource)) return SIGNING_REQUEST_RESET.get(subresource);
  if (subresource === 'status') return resource.custom ? CUSTOM_STATUS_RESET : SPEC_RESET;
  return subresource === undefined && resource.subresources.has('status') ? STATUS_RESET : undefined;
}

const isSigningRequest = ({ group, plural }: Resource): boolean =>
  plural === 'certificatesigningrequests' && group === 'certificates.k8s.io';

/** The object without what no version of it shows, so that nobody is said to own it. */
function withoutStoredOnly({ strategy }: Resource, object: ApiObject): ApiObject {
  if (strategy.storedOnly === undefined || !isObject(object['spec'])) return object;
  const hidden = strategy.storedOnly;
  return {
    ...object,
    spec: Object.fromEntries(Object.entries(object['spec']).filter(([key]) => !hidden.includes(key))),
  };
}

export function createFieldManager(schema: Schema): FieldManager {
  return {
    recordUpdate: (change) => recordUpdate(schema, change),
    createdEntries: (change) => createdEntries(schema, change),
    apply: (request) => apply(schema, request),
  };
}

function kindOf(schema: Schema, resource: Resource, version: string, object: ApiObject): KindSchema | undefined {
  return kindSchemaOf(schema, resource, {
    apiVersion: object.apiVersion ?? apiVersion(resource.group, version),
    kind: resource.kind,
  });
}

function recordUpdate(
  schema: Schema,
  { resource, version, subresource, old, object, manager, now }: Parameters<FieldManager['recordUpdate']>[0],
): void {
  const kind = kindOf(schema, resource, version, object);
  if (kind === undefined) return;
  const entries = trackUpdate({
    before: old && withoutStoredOnly(resource, old),
    after: withoutStoredOnly(resource, object),
    node: nodeOf(kind),
    manager,
    apiVersion: apiVersion(resource.group, version),
    subresource,
    now: formatTime(now),
    resetFields: resetFieldsOf(resource, subresource),
  });
  setEntries(object, entries as ManagedFieldsEntry[]);
}

function createdEntries(
  schema: Schema,
  { resource, version, object, manager, now }: Parameters<FieldManager['createdEntries']>[0],
): string | undefined {
  const kind = kindOf(schema, resource, version, object);
  if (kind === undefined) return undefined;
  const { spec: _, ...withoutSpec } = object as JsonObject;
  try {
    const fields = createdFields(
      isSigningRequest(resource) ? withoutSpec : withoutStoredOnly(resource, object),
      nodeOf(kind),
      resource.subresources.has('status'),
    );
    if (fields === undefined) return undefined;
    const entry = {
      manager,
      operation: 'Update',
      apiVersion: apiVersion(resource.group, version),
      time: formatTime(now),
      fieldsType: 'FieldsV1',
    };
    return `[${JSON.stringify(entry).slice(0, -1)},"fieldsV1":${fields}}]`;
  } catch (error) {
    if (error instanceof UnkeyedItemError) return undefined;
    throw error;
  }
}

function apply(
  schema: Schema,
  { resource, version, subresource, live, config, manager, force, now }: Parameters<FieldManager['apply']>[0],
): ApiObject {
  const gv = apiVersion(resource.group, version);
  const kind = kindSchemaOf(schema, resource, { apiVersion: gv, kind: resource.kind });
  if (kind === undefined) throw badRequest(`no kind "${resource.kind}" is registered for version "${gv}"`);
  try {
    const outcome = applyServerSide({
      live,
      config,
      node: nodeOf(kind),
      manager,
      apiVersion: gv,
      kind: resource.kind,
      subresource,
      force,
      now: formatTime(now),
      resetFields: resetFieldsOf(resource, subresource),
    });
    if (!outcome.applied) {
      throw failure(409, 'Conflict', conflictMessage(outcome.conflicts), {
        details: { causes: conflictCauses(outcome.conflicts) },
      });
    }
    const object: JsonObject = outcome.object;
    // What decoding would leave out must not be stored, or the next write would seem to remove it.
    if (kind.custom) pruneCustom(object, kind.schema);
    else conform(object, kind.struct);
    setEntries(object as ApiObject, outcome.managedFields as ManagedFieldsEntry[]);
    return object as ApiObject;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    if (!(error instanceof PatchError)) throw error;
    throw failure(error.code, error.reason === 'InternalError' ? '' : error.reason, error.message);
  }
}

function setEntries(object: ApiObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}
