/** PATCH: the content type selects the algorithm; the outcome is then an update like any other. */
import {
  deepClone,
  FieldPath,
  forbidden,
  invalid as invalidValue,
  isObject,
  required,
} from '../../machinery/values/index.ts';
import { type Call, nameOf } from '../context/call.ts';
import { DecodeError, parseJson, parseYaml, TooLargeError, yamlText } from '../codec/index.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, objectKey } from '../registry/resource.ts';
import { parseRevision } from './revision.ts';
import { badRequest, conflict, invalid, notFound, tooLarge, unsupportedMediaType } from '../exchange/status.ts';
import { converting } from '../stored/converting.ts';
import { inVersion, isStoredForm } from '../stored/encoding.ts';
import { reportProblems, toStored } from './body.ts';
import { checkName, createObject, respondWithWritten, type Written } from './create.ts';
import { nextPart } from './parts.ts';
import { mainRules, type UpdateRules, updateObject } from './update.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

export type PatchMediaType = typeof JSON_PATCH | typeof MERGE_PATCH | typeof STRATEGIC_PATCH | typeof APPLY_PATCH;

export async function patch(call: Call): Promise<ApiResponse> {
  const { status, written } = await patchObject(call, mainRules(call));
  return respondWithWritten(call, status, written);
}

export async function patchObject(call: Call, rules: UpdateRules): Promise<{ status: number; written: Written }> {
  const type = patchType(call);
  if (type === APPLY_PATCH) return applyObject(call, rules);
  refuseForce(call);
  expectStored(call);
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

/** Only who applies can force. */
export function refuseForce(call: Call): void {
  if (call.options.force === undefined) return;
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch'),
  ]);
}

/** Which object comes first: a patch of nothing is not read. */
export function expectStored(call: Call): void {
  const name = nameOf(call);
  if (call.context.store.peek(objectKey(call.resource, call.info.namespace, name)) === undefined)
    throw notFound(call.resource, name);
}

export function patchType(call: Call): PatchMediaType {
  const type = (call.request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const offered: string[] = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
  if (!call.resource.custom) offered.push(STRATEGIC_PATCH);
  if (!offered.includes(type)) throw unsupportedMediaType(type, offered);
  return type as PatchMediaType;
}

/** Applies the patch to the object as the asked version shows it, and brings the outcome back to stored form. */
function patched(call: Call, old: ApiObject, change: (shown: ApiObject) => ApiObject): ApiObject {
  const shown = inVersion(call, old, deepClone);
  const result = change(shown);
  // Metadata that a patch takes away are those of no name; something else in their place cannot be read.
  if (isObject(result) && (result['metadata'] ?? null) === null) checkName(undefined, old.metadata.name ?? '');
  if (!isObject(result) || !isObject(result['metadata'])) {
    throw invalid({ group: '', kind: '' }, '', [invalidValue(FieldPath.of('patch'), null, 'it leaves no metadata')]);
  }
  const problems = call.context.codec.prune(call.resource, call.version.name, result);
  reportProblems(call, problems, (text) =>
    invalid(call.resource, old.metadata.name ?? '', [invalidValue(FieldPath.of('patch'), null, text)]),
  );
  checkPatchedIdentity(call, result, old);
  return toStored(call, result, old);
}

/**
 * The one part of the object that a patch can change, where that can be told: status through its subresource, or
 * metadata. The rest then need not be copied, pruned and compared.
 */
function onlyReached(call: Call, document: unknown): 'status' | 'metadata' | undefined {
  const { info, context, resource, version } = call;
  if (!isObject(document) || context.codec.fields === undefined) return undefined;
  if (!isStoredForm(resource, version) || version.toStored !== undefined) return undefined;
  const reaches = (part: string): boolean =>
    Object.keys(document).every((key) => key === part || key === 'kind' || key === 'apiVersion');
  if (info.subresource === 'status') return reaches('status') ? 'status' : undefined;
  if (info.subresource !== undefined || resource.custom === true || !reaches('metadata')) return undefined;
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
  checkPatchedType(call, result);
  checkName(result.metadata.name, old.metadata.name ?? '');
  if ((result.metadata.namespace ?? '') !== (old.metadata.namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** What a patch takes away of the type is known; another type is refused. */
function checkPatchedType({ resource, version }: Call, result: ApiObject): void {
  const expected = apiVersion(resource.group, version.name);
  if (!resource.custom) {
    result.kind ||= resource.kind;
    result.apiVersion ||= expected;
  }
  if (result.kind === resource.kind && result.apiVersion === expected) return;
  const why = `the type of the object must stay ${expected}, Kind=${resource.kind}`;
  const given = `${shown(result.apiVersion)}, Kind=${shown(result.kind)}`;
  throw invalid({ group: '', kind: '' }, '', [invalidValue(FieldPath.of('patch'), given, why)]);
}

/** Reads the patch once; the returned function applies it to any version of the object. */
export function patcher(call: Call, type: PlainPatchType): (shown: ApiObject) => ApiObject {
  return applier(call, type, patchDocument(call, type));
}

export type PlainPatchType = Exclude<PatchMediaType, typeof APPLY_PATCH>;

function patchDocument(call: Call, type: PlainPatchType): unknown {
  const sent = readPatch(call);
  // Nothing changes nothing, but for a merge patch, which would put it in the place of the object.
  if (sent !== null || type === MERGE_PATCH) return sent;
  return type === JSON_PATCH ? [] : {};
}

function applier(call: Call, type: PlainPatchType, document: unknown): (shown: ApiObject) => ApiObject {
  const { context, resource, version } = call;
  if (type === JSON_PATCH) {
    if (!Array.isArray(document)) throw badRequest('the JSON patch is not a list of operations');
    return (shown) => withVersion(call, context.codec.jsonPatch(shown, document));
  }
  if (!isObject(document)) throw badRequest('the patch is not an object');
  return type === MERGE_PATCH
    ? (shown) => withVersion(call, context.codec.mergePatch(shown, document))
    : (shown) => {
        const result = context.codec.strategicMerge(resource, version.name, shown, document);
        // It speaks of fields, and the type is none of them.
        if (typeof result.kind === 'string') result.kind = resource.kind;
        if (typeof result.apiVersion === 'string') result.apiVersion = apiVersion(resource.group, version.name);
        return result;
      };
}

/**
 * What has no version is read as nothing, name included, and so refused with the words that kube-apiserver has for it,
 * unless its kind is one that there is not.
 */
function withVersion(call: Call, result: ApiObject): ApiObject {
  const { info, resource } = call;
  if (resource.custom || result.apiVersion) return result;
  if (typeof result.kind === 'string') checkPatchedType(call, { ...result });
  checkName(undefined, info.name ?? '');
  return result;
}

function readPatch(call: Call): unknown {
  try {
    const { value, repeated } = parseJson(Buffer.from(call.request.body ?? []).toString('utf8'));
    const problems = (repeated?.duplicates ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`);
    reportProblems(call, problems, (text) =>
      invalid(call.resource, call.info.name ?? '', [invalidValue(FieldPath.of('patch'), null, text)]),
    );
    return value;
  } catch (error) {
    throw undecodable(error, 'patch');
  }
}

async function applyObject(call: Call, rules: UpdateRules): Promise<{ status: number; written: Written }> {
  const manager = requiredManager(call);
  if (call.info.subresource !== undefined) expectStored(call);
  const config = readConfig(call, {
    apiVersion: apiVersion(call.resource.group, call.version.name),
    kind: call.resource.kind,
  });
  const read = nextPart(call);
  if (read !== undefined) await read;
  return applyConfig(call, rules, { manager, config });
}

export function requiredManager({ options: { fieldManager } }: Call): string {
  if (fieldManager !== undefined) return fieldManager;
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    required(FieldPath.of('fieldManager'), 'is required for apply patch'),
  ]);
}

export async function applyConfig(
  call: Call,
  rules: UpdateRules,
  { config, manager }: { readonly config: ApiObject; readonly manager: string },
): Promise<{ status: number; written: Written }> {
  const { context, resource, version, info } = call;
  const name = nameOf(call);
  const merged = (live: ApiObject): ApiObject => {
    const { fields } = context.codec;
    if (fields === undefined) return context.codec.mergePatch(live, config as Record<string, unknown>);
    return fields.apply({
      resource,
      version: version.name,
      subresource: info.subresource,
      live,
      config: deepClone(config),
      manager,
      force: call.options.force ?? false,
      now: context.clock.now(),
    });
  };
  const key = objectKey(resource, info.namespace, name);
  const isNew = context.store.peek(key) === undefined;
  // What does not fit, and conflicts, come before a wrong name; only what is to be made must say its name.
  const merge = (live: ApiObject): ApiObject => {
    const result = merged(live);
    if (isNew || config.metadata.name) checkName(config.metadata.name, name);
    return result;
  };
  if (isNew && info.subresource === undefined) {
    const { resourceVersion, uid } = config.metadata;
    // What is no text is refused with the other fields that do not fit.
    if (typeof resourceVersion === 'string') parseRevision(resourceVersion);
    if (typeof uid === 'string' && uid !== '') {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, name, why);
    }
    if (resource.namespaced && config.metadata.namespace === undefined)
      config.metadata.namespace = info.namespace as string;
    const empty: ApiObject = {
      kind: resource.kind,
      apiVersion: apiVersion(resource.group, version.name),
      metadata: { name, ...(resource.namespaced && { namespace: info.namespace as string }) },
    };
    const created = await converting(() => toStored(call, merge(empty)));
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
    fieldsRecorded: context.codec.fields !== undefined,
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
    throw undecodable(error, 'YAML');
  }
}

function undecodable(error: unknown, what: string): unknown {
  if (error instanceof TooLargeError) return tooLarge(error.message);
  return error instanceof DecodeError ? badRequest(`error decoding ${what}: ${error.message}`) : error;
}

export function readConfig(call: Call, type: { readonly apiVersion: string; readonly kind: string }): ApiObject {
  const config = parseConfig(call);
  if (!isObject(config)) throw badRequest('the apply configuration is not an object');
  if (config['apiVersion'] !== type.apiVersion || config['kind'] !== type.kind) {
    throw badRequest(
      `the apply configuration is of ${JSON.stringify(config['apiVersion'])}, Kind=${JSON.stringify(config['kind'])}; expected ${type.apiVersion}, Kind=${type.kind}`,
    );
  }
  const metadata = config['metadata'] ?? {};
  if (!isObject(metadata)) throw badRequest('metadata of the apply configuration is not an object');
  return { ...config, metadata } as ApiObject;
}

/** A patch may put anything in the place of a name. */
const shown = (name: unknown): string => (typeof name === 'string' ? name : JSON.stringify(name));
