import { deepClone, isObject, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { PatchError } from '../patch-error.ts';

export const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const ORDER_PREFIX = '$setElementOrder/';

/** A value as Go's %v prints it. */
export function goFormat(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((key) => `${key}:${goFormat(value[key])}`).join(' ')}]`;
}

export const badPatchType = (type: unknown, map: unknown): PatchError =>
  new PatchError('InternalError', `unknown patch type: ${goFormat(type)} in map: ${goFormat(map)}`);

export function deletionField(key: string): string | undefined {
  return key.startsWith(DELETE_PREFIX) ? key.slice(DELETE_PREFIX.length) : undefined;
}

export function orderField(key: string): string | undefined {
  return key.startsWith(ORDER_PREFIX) ? key.slice(ORDER_PREFIX.length) : undefined;
}

export function isDirectiveKey(key: string): boolean {
  return key === PATCH || key === RETAIN_KEYS || key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX);
}

/**
 * A patch value that takes its place unmerged: nulls and directives go. A map marked for deletion leaves nothing,
 * one marked `replace` leaves its content.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, PATCH) && value[PATCH] !== 'replace') return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (isDirectiveKey(key) || value[key] === null) continue;
    const kept = withoutDirectives(value[key]);
    if (kept !== undefined) setOwn(result, key, kept);
  }
  return result;
}

/** `$patch` in a map: the merged map without looking further, or undefined when there is no directive. */
export function mapDirective(patch: JsonObject): JsonObject | undefined {
  if (!Object.hasOwn(patch, PATCH)) return undefined;
  if (patch[PATCH] === 'delete') return {};
  if (patch[PATCH] !== 'replace') throw badPatchType(patch[PATCH], patch);
  const result = deepClone(patch);
  delete result[PATCH];
  return result;
}

/** `$retainKeys`: drops every member of the target the list does not name. */
export function retainKeys(target: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const list = patch[RETAIN_KEYS];
  const malformed = (): PatchError => new PatchError('BadRequest', 'invalid patch format of retainKeys');
  if (!Array.isArray(list)) throw malformed();
  const kept = new Set<unknown>(list);
  for (const key of Object.keys(patch)) {
    if (patch[key] !== null && !isDirectiveKey(key) && !kept.has(key)) throw malformed();
  }
  for (const key of Object.keys(target)) if (!kept.has(key)) delete target[key];
}
