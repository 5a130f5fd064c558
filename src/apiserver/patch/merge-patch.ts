import { deepClone, isObject, type JsonObject, setOwn } from '../../machinery/values/index.ts';
import { PatchError } from './patch-error.ts';

/** Applies a JSON merge patch (RFC 7386): members merge, null deletes, everything else replaces. */
export function applyMergePatch(original: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new PatchError('BadRequest', 'Invalid JSON Patch');
  return mergeObject(original, patch);
}

function mergeObject(target: unknown, patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  if (isObject(target)) {
    for (const key of Object.keys(target)) {
      if (!Object.hasOwn(patch, key)) setOwn(result, key, deepClone(target[key]));
      else mergeMember(result, key, target[key], patch[key]);
    }
  }
  for (const key of Object.keys(patch)) {
    if (!isObject(target) || !Object.hasOwn(target, key)) mergeMember(result, key, undefined, patch[key]);
  }
  return result;
}

function mergeMember(result: JsonObject, key: string, before: unknown, patch: unknown): void {
  if (patch === null || patch === undefined) return;
  setOwn(result, key, isObject(patch) ? mergeObject(before, patch) : deepClone(patch));
}
