import type { ListNode, SchemaNode } from '../../../api/schema/index.ts';
import { deepClone, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { PatchError } from '../patch-error.ts';
import { badPatchType, goFormat, PATCH } from './directives.ts';

type KeyOf = (item: unknown) => unknown;
/** Merges a patch into a map it may change. */
type MergeMap = (target: JsonObject, patch: JsonObject, node: SchemaNode | undefined) => JsonObject;

const noMergeKey = (item: unknown, key: string): PatchError =>
  new PatchError('InternalError', `map: ${goFormat(item)} does not contain declared merge key: ${key}`);

/** Merges two lists of a field with patch strategy `merge`: scalars as a union, maps by their merge key. */
export function mergeList(
  original: readonly unknown[],
  patch: readonly unknown[],
  node: ListNode,
  mergeMap: MergeMap,
): unknown[] {
  if (original.length === 0 && patch.length === 0) return [];
  // The result would be refused for it as well, after the work is done.
  if (patch.length > LIMITS.listedObjects && isObject(patch[0])) {
    const why = `Request entity too large: limit is ${LIMITS.listedObjects} objects in one list of a patch`;
    throw new PatchError('RequestEntityTooLarge', why);
  }
  if (!areMaps(original, patch)) {
    const merged = [...new Set<unknown>([...original, ...patch])];
    return enforceOrder(merged, patch, original, (item) => item);
  }
  const key = node.patchMergeKey;
  if (key === undefined) throw new PatchError('InternalError', 'cannot merge lists without merge key');
  return mergeMaps(original as JsonObject[], patch as JsonObject[], key, (target, item) =>
    mergeMap(target, item, node.element),
  );
}

function mergeMaps(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  key: string,
  mergeItem: (target: JsonObject, item: JsonObject) => JsonObject,
): unknown[] {
  const { base, items, replaced } = applyItemDirectives(original, patch, key);
  if (replaced) return deepClone(items);
  const merged: JsonObject[] = [...base];
  const positions = new Map<unknown, number>();
  base.forEach((item, index) => {
    if (!positions.has(item[key])) positions.set(item[key], index);
  });
  for (const item of items) {
    if (!Object.hasOwn(item, key)) throw noMergeKey(item, key);
    const position = positions.get(item[key]);
    if (position === undefined) {
      positions.set(item[key], merged.length);
      merged.push(deepClone(item));
    } else {
      merged[position] = mergeItem(merged[position] as JsonObject, item);
    }
  }
  return enforceOrder(merged, items, base, (item) => (isObject(item) ? item[key] : item));
}

/** `$patch` in list items: `delete` removes the item with that key, `replace` makes the list the other items. */
function applyItemDirectives(original: readonly JsonObject[], patch: readonly JsonObject[], key: string) {
  const items: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let replaced = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, PATCH)) {
      items.push(item);
    } else if (item[PATCH] === 'delete') {
      if (!Object.hasOwn(item, key)) throw noMergeKey(item, key);
      deleted.add(item[key]);
    } else if (item[PATCH] === 'replace') {
      replaced = true;
    } else {
      throw badPatchType(item[PATCH], item);
    }
  }
  return { base: original.filter((item) => !deleted.has(item[key])), items, replaced };
}

/** All items must be maps or none; lists of lists are not supported. */
function areMaps(...lists: readonly (readonly unknown[])[]): boolean {
  let maps: boolean | undefined;
  for (const item of lists.flat()) {
    if (Array.isArray(item)) throw new PatchError('Invalid', 'lists of lists are not supported');
    const isMap = isObject(item);
    if (maps !== undefined && maps !== isMap) {
      throw new PatchError('InternalError', 'list element types are not identical');
    }
    maps = isMap;
  }
  return maps ?? false;
}

/** Puts a merged list into the order of `$setElementOrder`; items it does not name keep their place in the original. */
export function orderList(
  merged: readonly unknown[],
  order: readonly unknown[],
  original: readonly unknown[],
  patch: readonly unknown[],
  node: SchemaNode | undefined,
): unknown[] {
  const key = node?.kind === 'list' ? node.patchMergeKey : undefined;
  const keyOf: KeyOf = (item) => (key !== undefined && isObject(item) ? item[key] : item);
  const named = order.map(keyOf);
  checkOrderMatches(patch, named, keyOf);
  return enforceOrder(merged, order, original, keyOf);
}

function checkOrderMatches(patch: readonly unknown[], order: readonly unknown[], keyOf: KeyOf): void {
  let at = 0;
  for (const item of patch) {
    if (isObject(item) && Object.hasOwn(item, PATCH)) continue;
    const found = order.indexOf(keyOf(item), at);
    if (found < 0) {
      throw new PatchError(
        'InternalError',
        `The order in patch list:\n${JSON.stringify(patch)}\n doesn't match $setElementOrder list:\n${JSON.stringify(order)}\n`,
      );
    }
    at = found + 1;
  }
}

/**
 * Items of the patch come in the patch's order, the others in the original's. The two runs interleave by the original
 * order as far as it knows both; an item new in the patch therefore stands before those only the original has.
 */
function enforceOrder(
  merged: readonly unknown[],
  patchOrder: readonly unknown[],
  original: readonly unknown[],
  keyOf: KeyOf,
): unknown[] {
  const inPatch = positionsOf(patchOrder, keyOf);
  const inOriginal = positionsOf(original, keyOf);
  const byPosition = (positions: Map<unknown, number>) => (a: unknown, b: unknown) =>
    (positions.get(keyOf(a)) ?? 0) - (positions.get(keyOf(b)) ?? 0);
  const fromPatch = merged.filter((item) => inPatch.has(keyOf(item))).sort(byPosition(inPatch));
  const others = merged.filter((item) => !inPatch.has(keyOf(item))).sort(byPosition(inOriginal));
  const result: unknown[] = [];
  let left = 0;
  for (const item of fromPatch) {
    const place = inOriginal.get(keyOf(item));
    while (place !== undefined && left < others.length) {
      const other = inOriginal.get(keyOf(others[left]));
      if (other === undefined || other >= place) break;
      result.push(others[left]);
      left++;
    }
    result.push(item);
  }
  return [...result, ...others.slice(left)];
}

function positionsOf(list: readonly unknown[], keyOf: KeyOf): Map<unknown, number> {
  const positions = new Map<unknown, number>();
  list.forEach((item, index) => {
    const key = keyOf(item);
    if (!positions.has(key)) positions.set(key, index);
  });
  return positions;
}
