/** JSON as CEL sees it and back: whole numbers are CEL integers, which the library keeps as bigint. */
import { isObject, setOwn } from '../../machinery/values/index.ts';

export function toCel(value: unknown): unknown {
  return converted(value, toCel);
}

/** `toCel` that remembers the lists and maps it has converted, for objects whose parts are asked for one by one. */
export function celView(): (value: unknown) => unknown {
  const known = new WeakMap<object, unknown>();
  const view = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return converted(value, view);
    let cel = known.get(value);
    if (cel === undefined) known.set(value, (cel = converted(value, view)));
    return cel;
  };
  return view;
}

function converted(value: unknown, part: (value: unknown) => unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(part);
  if (!isObject(value)) return value ?? null;
  const copy: Record<string, unknown> = {};
  for (const name in value) if (value[name] !== undefined) setOwn(copy, name, part(value[name]));
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
