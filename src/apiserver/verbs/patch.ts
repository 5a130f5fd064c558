/** PATCH: the content type selects the algorithm; the outcome is then an update like any other. */
import {
  deepClone,
  FieldPath,
  forbidden,
  invalid as invalidValue,
  isObject,
  required,
} from '../../machinery/values/index.ts';
import { type Call, nameOf } from '../call.ts';
import { DecodeError, parseJson, parseYaml, TooLargeError, yamlText } from '../codec/index.ts';
import type { ApiResponse } from '../exchange.ts';
import type { ApiObject } from '../object.ts';
import { apiVersion, objectKey } from '../registry/row.ts';
import { badRequest, conflict, invalid, notFound, tooLarge, unsupportedMediaType } from '../status.ts';
import { inVersion, isStoredForm } from '../stored/encoding.ts';
import { reportProblems, toStored } from './body.ts';
import { createObject, respondWithWritten, type Written } from './create.ts';
import { nextPart } from './parts.ts';
import { mainRules, type UpdateRules, updateObject } from './update.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

export type PatchType = typeof JSON_PATCH | typeof MERGE_PATCH | typeof STRATEGIC_PATCH | typeof APPLY_PATCH;

export async function patch(call: Call): Promise<ApiResponse> {
  const { status, written } = await patchObject(call, mainRules(call));
  return respondWithWritten(call, status, written);
}

export async function patchObject(call: Call, rules: UpdateRules): Promise<{ status: number; written: Written }> {
  const type = patchType(call);
  if (type === APPLY_PATCH) return applyObject(call, rules);
  if (call.options.force !== undefined) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch'),
    ]);
  }
  // Which object comes first: a patch of nothing is not read.
  const name = nameOf(call);
  if (call.kernel.store.peek(objectKey(call.row, call.info.namespace, name)) === undefined)
    throw notFound(call.row, name);
  const document = patchDocument(call, type);
  const read = nextPart(call);
  if (read !== undefined) await read;
  const change = applier(call, type, document);
  const reached = onlyReached(call, document);
  const written = await updateObject(call, {
    compute: (old) => (reached === undefined ? patched(call, old, change) : patchedPart(call, old, reached, change)),
    rules,
    optionsKind: 'PatchOptions',
  });
  return { status: 200, written };
}

export function patchType(call: Call): PatchType {
  const type = (call.request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const offered: string[] = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
  if (!call.row.custom) offered.push(STRATEGIC_PATCH);
  if (!offered.includes(type)) throw unsupportedMediaType(type, offered);
  return type as PatchType;
}

/** Applies the patch to the object as the asked version shows it, and brings the outcome back to stored form. */
function patched(call: Call, old: ApiObject, change: (shown: ApiObject) => ApiObject): ApiObject {
  const shown = inVersion(call, old, deepClone);
  const result = change(shown);
  if (!isObject(result) || !isObject(result['metadata'])) throw badRequest('the patched object has no metadata');
  const problems = call.kernel.codec.prune(call.row, call.version.name, result);
  reportProblems(call, problems, (text) =>
    invalid(call.row, old.metadata.name ?? '', [invalidValue(FieldPath.of('patch'), null, text)]),
  );
  checkPatchedIdentity(call, result, old);
  return toStored(call, result, old);
}

/**
 * The one part of the object that a patch can change, where that can be told: status through its subresource, or
 * metadata. The rest then need not be copied, pruned and compared.
 */
function onlyReached(call: Call, document: unknown): 'status' | 'metadata' | undefined {
  const { info, kernel, row, version } = call;
  if (!isObject(document) || kernel.codec.fields === undefined) return undefined;
  if (!isStoredForm(row, version) || version.toStored !== undefined) return undefined;
  const reaches = (part: string): boolean =>
    Object.keys(document).every((key) => key === part || key === 'kind' || key === 'apiVersion');
  if (info.subresource === 'status') return reaches('status') ? 'status' : undefined;
  if (info.subresource !== undefined || row.custom === true || !reaches('metadata')) return undefined;
  const { metadata } = document;
  return isObject(metadata) && metadata.managedFields === undefined ? 'metadata' : undefined;
}

/** The same as `patched`, on what such a patch can reach. Who owned what is recorded from the old object. */
function patchedPart(
  call: Call,
  old: ApiObject,
  part: 'status' | 'metadata',
  change: (shown: ApiObject) => ApiObject,
): ApiObject {
  const { managedFields: _, ...metadata } = old.metadata;
  const reached: ApiObject = { kind: old.kind as string, apiVersion: old.apiVersion as string, metadata };
  if (part === 'status' && old['status'] !== undefined) reached['status'] = old['status'];
  const result = patched(call, reached, change);
  const object: ApiObject = { ...old, ...result };
  if (part === 'status' && result['status'] === undefined) delete object['status'];
  return object;
}

function checkPatchedIdentity(call: Call, result: ApiObject, old: ApiObject): void {
  const expected = apiVersion(call.row.group, call.version.name);
  if (result.kind !== call.row.kind || result.apiVersion !== expected) {
    throw badRequest(
      `the patch would change the type of the object to ${shown(result.apiVersion)}, Kind=${shown(result.kind)}; it must stay ${expected}, Kind=${call.row.kind}`,
    );
  }
  if (result.metadata.name !== old.metadata.name) {
    throw badRequest(
      `the name of the object (${shown(result.metadata.name)}) does not match the name on the URL (${old.metadata.name})`,
    );
  }
  if ((result.metadata.namespace ?? '') !== (old.metadata.namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Reads the patch once; the returned function applies it to any version of the object. */
export function patcher(call: Call, type: PlainPatchType): (shown: ApiObject) => ApiObject {
  return applier(call, type, patchDocument(call, type));
}

type PlainPatchType = Exclude<PatchType, typeof APPLY_PATCH>;

function patchDocument(call: Call, type: PlainPatchType): unknown {
  const sent = readPatch(call);
  // A strategic merge of nothing changes nothing; the other patches want something.
  return sent === null && type === STRATEGIC_PATCH ? {} : sent;
}

function applier(call: Call, type: PlainPatchType, document: unknown): (shown: ApiObject) => ApiObject {
  const { kernel, row, version } = call;
  if (type === JSON_PATCH) {
    if (!Array.isArray(document)) throw badRequest('the JSON patch is not a list of operations');
    return (shown) => kernel.codec.jsonPatch(shown, document);
  }
  if (!isObject(document)) throw badRequest('the patch is not an object');
  return type === MERGE_PATCH
    ? (shown) => kernel.codec.mergePatch(shown, document)
    : (shown) => kernel.codec.strategicMerge(row, version.name, shown, document);
}

function readPatch(call: Call): unknown {
  try {
    const { value, repeated } = parseJson(Buffer.from(call.request.body ?? []).toString('utf8'));
    const problems = (repeated?.duplicates ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`);
    reportProblems(call, problems, (text) =>
      invalid(call.row, call.info.name ?? '', [invalidValue(FieldPath.of('patch'), null, text)]),
    );
    return value;
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding patch: ${error.message}`);
  }
}

async function applyObject(call: Call, rules: UpdateRules): Promise<{ status: number; written: Written }> {
  const { kernel, row, version, info } = call;
  const manager = call.options.fieldManager;
  if (manager === undefined) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      required(FieldPath.of('fieldManager'), 'is required for apply patch'),
    ]);
  }
  const name = nameOf(call);
  const config = readConfig(call);
  const read = nextPart(call);
  if (read !== undefined) await read;
  const merge = (live: ApiObject): ApiObject => {
    const { fields } = kernel.codec;
    if (fields === undefined) return kernel.codec.mergePatch(live, config as Record<string, unknown>);
    return fields.apply({
      row,
      version: version.name,
      subresource: info.subresource,
      live,
      config: deepClone(config),
      manager,
      force: call.options.force ?? false,
      now: kernel.clock.now(),
    });
  };
  const key = objectKey(row, info.namespace, name);
  if (kernel.store.peek(key) === undefined && info.subresource === undefined) {
    const { uid } = config.metadata;
    if (uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(row, name, why);
    }
    if (row.namespaced && config.metadata.namespace === undefined) config.metadata.namespace = info.namespace as string;
    const empty: ApiObject = {
      kind: row.kind,
      apiVersion: apiVersion(row.group, version.name),
      metadata: { name, ...(row.namespaced && { namespace: info.namespace as string }) },
    };
    const created = toStored(call, merge(empty));
    return { status: 201, written: await createObject(call, created, { kind: 'PatchOptions', fieldsRecorded: true }) };
  }
  const written = await updateObject(call, {
    compute: (old) => {
      const asked = config.metadata.resourceVersion;
      const result = merge(inVersion(call, old, deepClone));
      if (asked !== undefined) result.metadata.resourceVersion = asked;
      return toStored(call, result, old);
    },
    rules,
    optionsKind: 'PatchOptions',
    fieldsRecorded: kernel.codec.fields !== undefined,
  });
  return { status: 200, written };
}

function parseConfig(call: Call): unknown {
  try {
    const { value, duplicates } = call.yaml?.() ?? parseYaml(yamlText(call.request.body ?? new Uint8Array()));
    reportProblems(call, duplicates, () =>
      badRequest(
        `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`,
      ),
    );
    return value;
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}

function readConfig(call: Call): ApiObject {
  const config = parseConfig(call);
  if (!isObject(config)) throw badRequest('the apply configuration is not an object');
  const { row, version } = call;
  const expected = apiVersion(row.group, version.name);
  if (config['apiVersion'] !== expected || config['kind'] !== row.kind) {
    throw badRequest(
      `the apply configuration is of ${JSON.stringify(config['apiVersion'])}, Kind=${JSON.stringify(config['kind'])}; expected ${expected}, Kind=${row.kind}`,
    );
  }
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  if (metadata['name'] !== undefined && metadata['name'] !== call.info.name) {
    throw badRequest(
      `the name of the object (${shown(metadata['name'])}) does not match the name on the URL (${call.info.name ?? ''})`,
    );
  }
  config['metadata'] = { ...metadata, name: call.info.name };
  return config as ApiObject;
}

/** A patch may put anything in the place of a name. */
const shown = (name: unknown): string => (typeof name === 'string' ? name : JSON.stringify(name));
