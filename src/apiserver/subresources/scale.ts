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
import { type Call, nameOf } from '../call.ts';
import type { ApiResponse } from '../exchange.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import type { Subresource } from '../registry/subresource.ts';
import { bodyType, negotiate } from '../request/negotiate.ts';
import { encodeAnswer } from '../response/respond.ts';
import { badRequest, invalid, notFound } from '../status.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { APPLY_PATCH, patcher, patchType, STRATEGIC_PATCH, MERGE_PATCH } from '../verbs/patch.ts';
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
  const { kernel, row, info } = call;
  const name = nameOf(call);
  if (info.verb === 'get') {
    const entry = kernel.store.get(objectKey(row, info.namespace, name));
    if (entry === undefined) throw notFound(row, name);
    return answer(call, scaleOf(kernel.objects.readOften(entry), fields));
  }
  const change = info.verb === 'patch' ? scalePatch(call) : scaleReplacement(call, name);
  const written = await updateObject(call, {
    compute(old) {
      const scale = change(scaleOf(old, fields));
      const replicas = (scale['spec'] as { replicas?: unknown } | undefined)?.replicas ?? 0;
      if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
          invalidValue(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'),
        ]);
      }
      const object = deepClone(old);
      fields.writeReplicas(object, replicas);
      // A patch may have taken the metadata away.
      const { resourceVersion, uid }: Partial<ApiObject['metadata']> = isObject(scale.metadata) ? scale.metadata : {};
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

function scaleReplacement(call: Call, name: string): (shown: ApiObject) => ApiObject {
  const { object } = call.kernel.codec.decode({
    bytes: call.request.body ?? new Uint8Array(),
    mediaType: bodyType(call.request.headers['content-type']),
    expected: { apiVersion: 'autoscaling/v1', kind: 'Scale' },
  });
  object.metadata ??= {};
  if (object.metadata.name && object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
  }
  return () => deepClone(object);
}

/** A Scale has no lists, so a strategic merge of it is a plain merge. */
function scalePatch(call: Call): (shown: ApiObject) => ApiObject {
  const type = scalePatchType(call);
  return type === APPLY_PATCH
    ? patcher(call, MERGE_PATCH)
    : patcher(call, type === STRATEGIC_PATCH ? MERGE_PATCH : type);
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
