import type { ListNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';

export const fieldElement = (name: string): string => `f:${name}`;

/** Why an item of an associative list cannot be told from the others. */
export class UnkeyedItemError extends Error {
  override name = 'UnkeyedItemError';
}

/** The element that names an item of a `map` or `set` list. */
export function itemElement(node: ListNode, item: unknown): string {
  return node.listType === 'map' ? keyedElement(node, item) : valueElement(item);
}

function keyedElement({ keys, element }: ListNode, item: unknown): string {
  if (item === null) throw new UnkeyedItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new UnkeyedItemError('associative list with keys may not have non-map elements');
  const key: JsonObject = {};
  for (const name of keys) {
    const value = item[name] ?? (element.kind === 'object' ? element.defaultOf(name) : undefined);
    if (value !== undefined && value !== null) key[name] = value;
  }
  if (Object.keys(key).length === 0) {
    const names = keys.map((name) => JSON.stringify(name)).join(' ');
    throw new UnkeyedItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(key)}`;
}

function valueElement(item: unknown): string {
  if (isObject(item)) throw new UnkeyedItemError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) {
    throw new UnkeyedItemError('not supported: associative list with lists as elements');
  }
  if (item === null || item === undefined) {
    throw new UnkeyedItemError("associative list without keys has an element that's an explicit null");
  }
  return `v:${JSON.stringify(item)}`;
}

/** As Kubernetes prints it: `.spec.containers[name="c"].image`. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

export function formatElement(element: string): string {
  const text = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${text}`;
    case 'k': {
      const key = JSON.parse(text) as JsonObject;
      return `[${Object.entries(key)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${text}]`;
    default:
      return `[${text}]`;
  }
}
