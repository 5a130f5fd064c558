import type { Schema } from '../../api/schema/index.ts';
import { formatTime, isObject, type JsonObject } from '../../machinery/values/index.ts';
import type { FieldManager } from '../codec-seam.ts';
import type { ApiObject, ManagedFieldsEntry } from '../object.ts';
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
import { apiVersion, type ResourceRow } from '../registry/row.ts';
import { badRequest, failure } from '../status.ts';
import { DecodeError } from './decode-error.ts';
import { kindSchemaOf, nodeOf } from './kind-schema.ts';
import { pruneCustom } from './structural/prune.ts';
import { conform } from './typed/conform.ts';

const STATUS_RESET = setOfPaths([['status']]);
const SPEC_RESET = setOfPaths([['spec']]);
const CUSTOM_STATUS_RESET = setOfPaths([['spec'], ['metadata']]);

/** Fields an endpoint never writes, so that nobody comes to own them through it. */
function resetFieldsOf(row: ResourceRow, subresource: string | undefined): FieldSet | undefined {
  if (subresource === 'status') return row.custom ? CUSTOM_STATUS_RESET : SPEC_RESET;
  return subresource === undefined && row.subresources.has('status') ? STATUS_RESET : undefined;
}

/** The object without what no version of it shows, so that nobody is said to own it. */
function withoutStoredOnly({ strategy }: ResourceRow, object: ApiObject): ApiObject {
  if (strategy.storedOnly === undefined || !isObject(object['spec'])) return object;
  const hidden = strategy.storedOnly;
  return {
    ...object,
    spec: Object.fromEntries(Object.entries(object['spec']).filter(([key]) => !hidden.includes(key))),
  };
}

export function createFieldManager(schema: Schema): FieldManager {
  const kindOf = (row: ResourceRow, version: string, object: ApiObject) =>
    kindSchemaOf(schema, row, { apiVersion: object.apiVersion ?? apiVersion(row.group, version), kind: row.kind });
  return {
    recordUpdate({ row, version, subresource, old, object, manager, now }) {
      const kind = kindOf(row, version, object);
      if (kind === undefined) return;
      const entries = trackUpdate({
        before: old && withoutStoredOnly(row, old),
        after: withoutStoredOnly(row, object),
        node: nodeOf(kind),
        manager,
        apiVersion: apiVersion(row.group, version),
        subresource,
        now: formatTime(now),
        resetFields: resetFieldsOf(row, subresource),
      });
      setEntries(object, entries as ManagedFieldsEntry[]);
    },

    createdEntries({ row, version, object, manager, now }) {
      const kind = kindOf(row, version, object);
      if (kind === undefined) return undefined;
      try {
        const fields = createdFields(withoutStoredOnly(row, object), nodeOf(kind), row.subresources.has('status'));
        if (fields === undefined) return undefined;
        return createdEntry({ fields, manager, apiVersion: apiVersion(row.group, version), time: formatTime(now) });
      } catch (error) {
        if (error instanceof UnkeyedItemError) return undefined;
        throw error;
      }
    },

    apply({ row, version, subresource, live, config, manager, force, now }) {
      const gv = apiVersion(row.group, version);
      const kind = kindSchemaOf(schema, row, { apiVersion: gv, kind: row.kind });
      if (kind === undefined) throw badRequest(`no kind "${row.kind}" is registered for version "${gv}"`);
      try {
        const outcome = applyServerSide({
          live,
          config,
          node: nodeOf(kind),
          manager,
          apiVersion: gv,
          kind: row.kind,
          subresource,
          force,
          now: formatTime(now),
          resetFields: resetFieldsOf(row, subresource),
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
    },
  };
}

interface CreatedEntry {
  /** As JSON text. */
  readonly fields: string;
  readonly manager: string;
  readonly apiVersion: string;
  readonly time: string;
}

let lastCreated: { readonly entry: CreatedEntry; readonly text: string } | undefined;

/** Replicas made within one second get the very same text, by which their encoding knows them. */
function createdEntry(entry: CreatedEntry): string {
  const { fields, manager, apiVersion: gv, time } = entry;
  const last = lastCreated?.entry;
  if (last?.time === time && last.manager === manager && last.apiVersion === gv && last.fields === fields) {
    return (lastCreated as { readonly text: string }).text;
  }
  const text = `[{"manager":${JSON.stringify(manager)},"operation":"Update","apiVersion":${JSON.stringify(gv)},"time":"${time}","fieldsType":"FieldsV1","fieldsV1":${fields}}]`;
  lastCreated = { entry, text };
  return text;
}

function setEntries(object: ApiObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}
