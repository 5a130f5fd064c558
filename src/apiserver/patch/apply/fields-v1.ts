import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { EMPTY_SET, type FieldSet } from './field-set.ts';

const MAX_DEPTH = 200;

/** Reads fieldsV1 as a client may have written it; undefined when it is not one. */
export function parseFieldsV1(value: unknown): FieldSet | undefined {
  if (value === undefined || value === null) return EMPTY_SET;
  return isObject(value) ? parseNode(value, 0) : undefined;
}

function parseNode(node: JsonObject, depth: number): FieldSet | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const result: Record<string, FieldSet> = {};
  for (const key of Object.keys(node)) {
    const element = parseElement(key);
    const child = node[key];
    if (element === undefined || !isObject(child)) return undefined;
    const parsed = parseNode(child, depth + 1);
    if (parsed === undefined) return undefined;
    result[element] = parsed;
  }
  return result;
}

/** The element with its JSON in our own spelling, so that equal elements are equal strings. */
function parseElement(key: string): string | undefined {
  if (key === '.' || key.startsWith('f:')) return key;
  try {
    if (key.startsWith('v:')) return `v:${JSON.stringify(JSON.parse(key.slice(2)))}`;
    if (key.startsWith('i:')) return /^i:\d+$/.test(key) ? key : undefined;
    if (!key.startsWith('k:')) return undefined;
    const parsed: unknown = JSON.parse(key.slice(2));
    if (!isObject(parsed)) return undefined;
    const sorted: JsonObject = {};
    for (const name of Object.keys(parsed).sort()) sorted[name] = parsed[name];
    return `k:${JSON.stringify(sorted)}`;
  } catch {
    return undefined;
  }
}
