import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { deepClone, isObject, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { PatchError } from '../patch-error.ts';
import {
  deletionField,
  isDirectiveKey,
  mapDirective,
  orderField,
  retainKeys,
  withoutDirectives,
} from './directives.ts';
import { mergeList, orderList } from './lists.ts';

/**
 * Applies a strategic merge patch: like a merge patch, but lists with a merge key merge item by item and directives
 * (`$patch`, `$retainKeys`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…`) say what a plain merge cannot.
 * Neither argument is changed.
 */
export function applyStrategicMergePatch(node: ObjectNode, original: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new PatchError('BadRequest', 'invalid JSON document');
  return mergeMap(deepClone(original), patch, node);
}

/**
 * Merges into `result`, which it may change, and returns what takes its place. Steps in order: whole-map directive,
 * retained keys, lists with a given order, then member by member.
 */
function mergeMap(result: JsonObject, patch: JsonObject, node: SchemaNode | undefined): JsonObject {
  const decided = mapDirective(patch);
  if (decided !== undefined) return decided;
  retainKeys(result, patch);
  const done = mergeOrderedLists(result, patch, node);
  for (const key of Object.keys(patch)) {
    if (done.has(key)) continue;
    const deletionOf = deletionField(key);
    if (deletionOf !== undefined) deleteFromList(result, deletionOf, patch[key]);
    else if (!isDirectiveKey(key)) mergeMember(result, key, patch[key], memberNode(node, key));
  }
  return result;
}

function memberNode(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  return node?.kind === 'object' ? node.property(key) : undefined;
}

function mergeMember(result: JsonObject, key: string, patch: unknown, node: SchemaNode | undefined): void {
  const before = Object.hasOwn(result, key) ? result[key] : undefined;
  if (patch === null) {
    delete result[key];
  } else if (isObject(before) && isObject(patch)) {
    const replace = node?.kind === 'object' && node.replace;
    setOwn(result, key, replace ? (withoutDirectives(patch) ?? {}) : mergeMap(before, patch, node));
  } else if (Array.isArray(before) && Array.isArray(patch)) {
    setOwn(result, key, isMergeList(node) ? mergeList(before, patch, node, mergeMap) : deepClone(patch));
  } else {
    const value = deepClone(withoutDirectives(patch));
    if (value === undefined) delete result[key];
    else setOwn(result, key, value);
  }
}

function isMergeList(node: SchemaNode | undefined): node is ListNode {
  return node?.kind === 'list' && (node.patchStrategy?.split(',').includes('merge') ?? false);
}

function deleteFromList(result: JsonObject, field: string, values: unknown): void {
  const before = Object.hasOwn(result, field) ? result[field] : undefined;
  if (before === undefined || before === null) return;
  if (!Array.isArray(before) || !Array.isArray(values) || [...before, ...values].some((v) => typeof v === 'object')) {
    throw new PatchError('BadRequest', 'invalid patch format of primitive list');
  }
  const gone = new Set<unknown>(values);
  result[field] = before.filter((value) => !gone.has(value));
}

/** Lists named by `$setElementOrder/…` are merged and put into that order; returns the patch keys dealt with. */
function mergeOrderedLists(result: JsonObject, patch: JsonObject, node: SchemaNode | undefined): Set<string> {
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    const field = orderField(key);
    if (field === undefined) continue;
    const order = patch[key];
    const before = Object.hasOwn(result, field) ? result[field] : undefined;
    const change = Object.hasOwn(patch, field) ? patch[field] : undefined;
    if (!Array.isArray(order) || !isListOrAbsent(before) || !isListOrAbsent(change)) {
      throw new PatchError('BadRequest', 'invalid patch format of setElementOrder list');
    }
    done.add(key);
    if (before === undefined && change === undefined) continue;
    const list = memberNode(node, field);
    const merged =
      change === undefined
        ? (before as unknown[])
        : before === undefined
          ? (withoutDirectives(change) as unknown[])
          : isMergeList(list)
            ? mergeList(before, change, list, mergeMap)
            : change;
    setOwn(result, field, deepClone(orderList(merged, order, before ?? [], change ?? [], list)));
    done.add(field);
  }
  return done;
}

function isListOrAbsent(value: unknown): value is unknown[] | undefined {
  return value === undefined || Array.isArray(value);
}
