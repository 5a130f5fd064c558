/** JSON as CEL sees it and back: whole numbers are CEL integers, which the library keeps as bigint. */
import { isObject } from '../../machinery/values/index.ts';

export function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (!isObject(value)) return value ?? null;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) if (item !== undefined) copy[name] = toCel(item);
  return copy;
}

export function fromCel(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(fromCel);
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, item]) => [String(name), fromCel(item)]));
  if (value instanceof Date) return value.toISOString();
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fromCel(item)]));
}
