/** `/scale`: the replicas of an object through one small kind that is the same for all. */
import {
  deepClone,
  FieldPath,
  formatSelector,
  fromLabelSelector,
  fromLabels,
  invalid as invalidValue,
  isObject,
  type LabelSelectorShape,
} from '../../machinery/values/index.ts';
import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, objectKey } from '../registry/resource.ts';
import type { Subresource } from '../registry/subresource.ts';
import { bodyType, negotiate } from '../request/negotiate.ts';
import { encodeAnswer } from '../response/respond.ts';
import { ApiError, invalid, notFound } from '../exchange/status.ts';
import { checkName } from '../verbs/create.ts';
import { atAskedRevision } from '../verbs/get.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import {
  APPLY_PATCH,
  applyConfig,
  expectStored,
  MERGE_PATCH,
  patcher,
  patchType,
  refuseForce,
  type PlainPatchType,
  readConfig,
  requiredManager,
  STRATEGIC_PATCH,
} from '../verbs/patch.ts';
import { mainRules, updateObject } from '../verbs/update.ts';

/** Where an object keeps what a Scale shows. */
export interface ScaleFields {
  readReplicas(object: ApiObject): number;
  writeReplicas(object: ApiObject, replicas: number): void;
  readStatusReplicas(object: ApiObject): number;
  readSelector(object: ApiObject): string | undefined;
}

/** `spec.replicas`, `status.replicas`, `spec.selector`: the built-in workloads. */
export const workloadScale: ScaleFields = {
  readReplicas: (object) => Number((object['spec'] as { replicas?: number } | undefined)?.replicas ?? 0),
  writeReplicas(object, replicas) {
    object['spec'] = { ...(object['spec'] as object), replicas };
  },
  readStatusReplicas: (object) => Number((object['status'] as { replicas?: number } | undefined)?.replicas ?? 0),
  readSelector(object) {
    const selector = (object['spec'] as { selector?: unknown } | undefined)?.selector;
    if (!isObject(selector)) return undefined;
    // ReplicationController has a plain map of labels.
    const isMap = !('matchLabels' in selector) && !('matchExpressions' in selector);
    return formatSelector(
      isMap ? fromLabels(selector as Record<string, string>) : fromLabelSelector(selector as LabelSelectorShape),
    );
  },
};

export function scaleSubresource(fields: ScaleFields): Subresource {
  return innerSubresource(
    { verbs: ['get', 'patch', 'update'], kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
    (call) => run(call, fields),
  );
}

async function run(call: Call, fields: ScaleFields): Promise<ApiResponse> {
  const { context, resource, info } = call;
  const name = nameOf(call);
  if (info.verb === 'get') {
    await atAskedRevision(call);
    const entry = context.store.get(objectKey(resource, info.namespace, name));
    if (entry === undefined) throw notFound(resource, name);
    return answer(call, scaleOf(context.objects.readOften(entry), fields));
  }
  const type = info.verb === 'patch' ? scalePatchType(call) : undefined;
  if (type === APPLY_PATCH) return applyScale(call, fields);
  if (type !== undefined) {
    refuseForce(call);
    expectStored(call);
  }
  const change = type === undefined ? scaleReplacement(call) : scalePatch(call, type);
  const written = await updateObject(call, {
    compute(old) {
      const scale = type === undefined ? change(scaleOf(old, fields)) : asScale(call, change(scaleOf(old, fields)));
      const replicas = (scale['spec'] as { replicas?: unknown } | undefined)?.replicas ?? 0;
      const object = deepClone(old);
      fields.writeReplicas(object, checkedReplicas(replicas, name));
      // A patch may have taken the metadata away.
      const metadata: Partial<ApiObject['metadata']> = isObject(scale.metadata) ? scale.metadata : {};
      if (metadata.name || type === undefined) checkName(metadata.name, name);
      const { resourceVersion, uid } = metadata;
      if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
      else delete object.metadata.resourceVersion;
      if (uid) object.metadata.uid = uid;
      return object;
    },
    rules: mainRules(call),
    optionsKind: info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions',
  });
  return answer(call, scaleOf(written.object, fields));
}

function scaleReplacement(call: Call): (shown: ApiObject) => ApiObject {
  const { object } = call.context.codec.decode({
    bytes: call.request.body ?? new Uint8Array(),
    mediaType: bodyType(call.request.headers['content-type']),
    expected: { apiVersion: 'autoscaling/v1', kind: 'Scale' },
  });
  object.metadata ??= {};
  // Before the object is looked for.
  checkName(object.metadata.name, nameOf(call));
  return () => deepClone(object);
}

/** What a patch leaves must still be a Scale, in all of its fields. */
function asScale(call: Call, patched: ApiObject): ApiObject {
  const text = JSON.stringify(patched);
  try {
    return call.context.codec.decode({
      bytes: Buffer.from(text),
      mediaType: 'application/json',
      expected: { apiVersion: 'autoscaling/v1', kind: 'Scale' },
    }).object;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    throw invalid({ group: '', kind: '' }, '', [invalidValue(FieldPath.of('patch'), text, error.message)]);
  }
}

/** A Scale has no lists, so a strategic merge of it is a plain merge. */
const scalePatch = (call: Call, type: PlainPatchType): ((shown: ApiObject) => ApiObject) =>
  patcher(call, type === STRATEGIC_PATCH ? MERGE_PATCH : type);

/** What is applied to a Scale is applied to the object: its replicas, which others may own. */
async function applyScale(call: Call, fields: ScaleFields): Promise<ApiResponse> {
  const manager = requiredManager(call);
  expectStored(call);
  const scale = readConfig(call, { apiVersion: 'autoscaling/v1', kind: 'Scale' });
  const { resource, version } = call;
  const { name, resourceVersion, uid } = scale.metadata;
  const metadata = { ...(name && { name }), ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) };
  const config: ApiObject = { apiVersion: apiVersion(resource.group, version.name), kind: resource.kind, metadata };
  const replicas = (scale['spec'] as { replicas?: unknown } | undefined)?.replicas;
  if (replicas !== undefined && replicas !== null) fields.writeReplicas(config, checkedReplicas(replicas, name ?? ''));
  const { written } = await applyConfig(call, mainRules(call), { config, manager });
  return answer(call, scaleOf(written.object, fields));
}

function checkedReplicas(replicas: unknown, name: string): number {
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0) return replicas;
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
    invalidValue(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'),
  ]);
}

function scalePatchType(call: Call): ReturnType<typeof patchType> {
  const type = (call.request.headers['content-type'] ?? '').split(';', 1)[0]?.trim();
  return type === STRATEGIC_PATCH ? STRATEGIC_PATCH : patchType(call);
}

function scaleOf(object: ApiObject, fields: ScaleFields): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = fields.readSelector(object);
  const replicas = fields.readReplicas(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })),
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: fields.readStatusReplicas(object), ...(selector && { selector }) },
  };
}

function answer(call: Call, scale: ApiObject): ApiResponse {
  return encodeAnswer(
    call,
    200,
    scale,
    negotiate(call.request.headers['accept'], { allowed: new Set(), protobuf: true }),
  );
}
