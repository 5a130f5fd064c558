/** Lists of named quantities: what is asked for, used, or allowed. */
import { addQuantities, compareQuantities, subtractQuantities } from '../../machinery/values/index.ts';

export type Amounts = Readonly<Record<string, string | number>>;

export function addAmounts(a: Amounts, b: Amounts): Record<string, string> {
  const sum: Record<string, string> = {};
  for (const [name, value] of Object.entries(a)) sum[name] = String(value);
  for (const [name, value] of Object.entries(b)) {
    const held = sum[name];
    sum[name] = held === undefined ? String(value) : addQuantities(held, value);
  }
  return sum;
}

/** What `a` has more than `b`; nothing is ever less than zero. */
export function excess(a: Amounts, b: Amounts): Record<string, string> {
  const rest: Record<string, string> = {};
  for (const [name, value] of Object.entries(a)) {
    const taken = b[name] ?? 0;
    if (compareQuantities(value, taken) > 0) rest[name] = subtractQuantities(value, taken);
  }
  return rest;
}

export function largest(a: Amounts, b: Amounts): Record<string, string> {
  const most: Record<string, string> = {};
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [left, right] = [a[name], b[name]];
    if (left === undefined) most[name] = String(right);
    else most[name] = String(right === undefined || compareQuantities(left, right) >= 0 ? left : right);
  }
  return most;
}

export function only(amounts: Amounts, names: ReadonlySet<string>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(amounts)) if (names.has(name)) kept[name] = String(value);
  return kept;
}

/** `limits.cpu=1,pods=2`, in the order of the names. */
export function formatAmounts(amounts: Amounts): string {
  return Object.keys(amounts)
    .sort()
    .map((name) => `${name}=${amounts[name]}`)
    .join(',');
}
