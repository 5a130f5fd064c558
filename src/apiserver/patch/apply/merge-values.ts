import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { deepClone, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { itemElement } from './path-element.ts';

/** Lays an applied configuration over the live object; what the configuration sets wins. */
export function mergeObjects(live: JsonObject, config: JsonObject, node: ObjectNode): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(live)) {
    const value = Object.hasOwn(config, key) ? mergeValues(live[key], config[key], node.property(key)) : live[key];
    setOwn(result, key, deepClone(value));
  }
  for (const key of Object.keys(config)) {
    if (!Object.hasOwn(live, key)) setOwn(result, key, deepClone(config[key]));
  }
  return result;
}

function mergeValues(live: unknown, config: unknown, node: SchemaNode | undefined): unknown {
  if (live === undefined) return config;
  if (config === undefined) return live;
  const walk = walkOf(node, live, config);
  if (walk === undefined) return config;
  if (walk.kind === 'object') return mergeObjects((live ?? {}) as JsonObject, (config ?? {}) as JsonObject, walk);
  return mergeLists((live ?? []) as unknown[], (config ?? []) as unknown[], walk);
}

/**
 * Shared items follow the configuration's order; items only the live list has keep their place before the shared
 * item they preceded; new items stand where the configuration has them.
 */
function mergeLists(live: readonly unknown[], config: readonly unknown[], node: ListNode): unknown[] {
  const liveElements = live.map((item) => itemElement(node, item));
  const configElements = config.map((item) => itemElement(node, item));
  const liveByElement = new Map<string, unknown>();
  live.forEach((item, index) => {
    const element = liveElements[index] as string;
    // Items that share a key are not merged into: there is no telling which is meant.
    liveByElement.set(element, liveByElement.has(element) ? undefined : item);
  });
  const configByElement = new Map(config.map((item, index) => [configElements[index] as string, item]));
  const shared = configElements.filter((element) => liveByElement.has(element));
  const merged = new Set<string>();
  const result: unknown[] = [];
  const take = (element: string): void => {
    merged.add(element);
    result.push(mergeValues(liveByElement.get(element), configByElement.get(element), node.element));
    if (element === shared[0]) shared.shift();
  };
  let l = 0;
  let c = 0;
  while (l < live.length || c < config.length) {
    const left = liveElements[l];
    const right = configElements[c];
    if (left !== undefined && left === right) {
      take(left);
      l++;
      c++;
    } else if (left !== undefined && !configByElement.has(left)) {
      result.push(live[l]);
      l++;
    } else if (left !== undefined && (merged.has(left) || (right !== undefined && shared[0] !== left))) {
      l++;
    } else if (right !== undefined) {
      take(right);
      c++;
    } else {
      l++;
    }
  }
  return result;
}
