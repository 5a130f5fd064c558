/** A codec without schemas: JSON and YAML as they come, every field kept. Stands in where no schema data is at hand. */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { parse as parseYaml } from 'yaml';
import { deepClone, isObject, setOwn } from '../machinery/values/index.ts';
import type { Codec } from './codec-seam.ts';
import type { ApiObject } from './object.ts';
import { badRequest, failure, unsupportedMediaType } from './status.ts';

export const plainCodec: Codec = {
  decode({ bytes, mediaType, expected }) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    let object: unknown;
    try {
      if (mediaType === 'application/vnd.kubernetes.protobuf')
        throw unsupportedMediaType(mediaType, ['application/json']);
      object = mediaType === 'application/yaml' ? parseYaml(text, { version: '1.1' }) : JSON.parse(text);
    } catch (error) {
      throw badRequest(
        `the object provided is unrecognized (must be of type ${expected.kind}): ${(error as Error).message}`,
      );
    }
    if (!isObject(object)) {
      throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): not an object`);
    }
    return { object: object as ApiObject, problems: [] };
  },
  prune: () => [],
  strategicMerge: (_row, _version, current, patch) => merged(current, patch) as ApiObject,
  mergePatch: (current, patch) => merged(current, patch) as ApiObject,
  jsonPatch(current, operations) {
    try {
      return fastJsonPatch.applyPatch(deepClone(current), operations as Operation[], true).newDocument;
    } catch (error) {
      throw failure(
        422,
        'Invalid',
        `the server rejected our request due to an error in our request: ${(error as Error).message}`,
      );
    }
  },
  fields: undefined,
};

function merged(current: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return deepClone(patch);
  const result: Record<string, unknown> = isObject(current) ? { ...current } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setOwn(result, key, merged(result[key], value));
  }
  return result;
}
