/** Functions Kubernetes adds to CEL, as far as the library below does not have them. */
import type { Environment } from '@marcbachmann/cel-js';
import { compareQuantities, formatNanos, parseNanos } from '../../machinery/values/index.ts';
import { compilePattern, patternWork } from '../codec/structural/pattern.ts';
import { spend } from './meter.ts';
import { fromCel } from './values.ts';

/** An amount such as `1Gi`, compared by value. */
class Quantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const NANO = 1_000_000_000n;

/** Patterns run in linear time whatever they are; `matches` is rewritten to this name before an expression is parsed. */
export const SAFE_MATCHES = 'matchesSafely';

/** Steps of matching that count as one unit of cost. */
const STEPS_OF_UNIT = 10;

/** What finds a pattern in a text; it is paid for before it is used. */
const finder = (text: string, expression: string) => {
  const compiled = compilePattern(expression);
  if (compiled === undefined) throw new Error(`Invalid regular expression: ${expression}`);
  spend(patternWork(text, compiled) / STEPS_OF_UNIT);
  return compiled.matcher(text);
};

export function registerLibrary(environment: Environment): void {
  const matches = (text: string, expression: string): boolean => finder(text, expression).find();
  environment.registerFunction(`string.${SAFE_MATCHES}(string): bool`, matches);
  environment.registerFunction(`${SAFE_MATCHES}(string, string): bool`, matches);
  registerText(environment);
  registerLists(environment);
  registerQuantities(environment);
}

function registerText(environment: Environment): void {
  const replaceSome = (text: string, from: string, to: string, times: bigint): string => {
    if (times < 0n) return text.replaceAll(from, () => to);
    let result = text;
    let at = 0;
    for (let left = times; left > 0n; left -= 1n) {
      const found = result.indexOf(from, at);
      if (found < 0) break;
      result = result.slice(0, found) + to + result.slice(found + from.length);
      at = found + to.length;
    }
    return result;
  };
  environment.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    replaceSome(text, from, to, -1n),
  );
  environment.registerFunction('string.replace(string, string, int): string', replaceSome);
  environment.registerFunction('string.charAt(int): string', (text: string, at: bigint) => text.charAt(Number(at)));
  environment.registerFunction('string.find(string): string', (text: string, expression: string) => {
    const matcher = finder(text, expression);
    return matcher.find() ? (matcher.group() ?? '') : '';
  });
  environment.registerFunction('string.findAll(string): list', (text: string, expression: string) => {
    const matcher = finder(text, expression);
    const found: string[] = [];
    while (matcher.find()) found.push(matcher.group() ?? '');
    return found;
  });
  environment.registerFunction('string.format(list): string', (text: string, values: readonly unknown[]) => {
    let at = 0;
    return text.replaceAll(/%(?:\.\d+)?([%sdfex])/g, (_all, kind: string) => {
      if (kind === '%') return '%';
      const value = fromCel(values[at]);
      at += 1;
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
  });
  environment.registerFunction('isURL(string): bool', (text: string) => URL.canParse(text));
}

type Item = bigint | number | string | boolean;

function registerLists(environment: Environment): void {
  const most = (items: readonly Item[], better: (a: Item, b: Item) => boolean): Item => {
    const [first, ...rest] = items;
    if (first === undefined) throw new Error('min and max need at least one item');
    return rest.reduce((best, item) => (better(item, best) ? item : best), first);
  };
  environment.registerFunction('list.sum(): dyn', (items: readonly (bigint | number)[]) =>
    items.some((item) => typeof item === 'number')
      ? items.reduce<number>((total, item) => total + Number(item), 0)
      : items.reduce<bigint>((total, item) => total + (item as bigint), 0n),
  );
  environment.registerFunction('list.min(): dyn', (items: readonly Item[]) => most(items, (a, b) => a < b));
  environment.registerFunction('list.max(): dyn', (items: readonly Item[]) => most(items, (a, b) => a > b));
  environment.registerFunction('list.indexOf(dyn): int', (items: readonly unknown[], item: unknown) =>
    BigInt(items.indexOf(item)),
  );
  environment.registerFunction('list.lastIndexOf(dyn): int', (items: readonly unknown[], item: unknown) =>
    BigInt(items.lastIndexOf(item)),
  );
  environment.registerFunction('list.isSorted(): bool', (items: readonly Item[]) =>
    items.every((item, at) => at === 0 || (items[at - 1] as Item) <= item),
  );
  environment.registerFunction('list.distinct(): list', (items: readonly unknown[]) => {
    const seen = new Set<string>();
    return items.filter((item) => {
      const key = JSON.stringify(fromCel(item));
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  });
}

function registerQuantities(environment: Environment): void {
  const read = (text: string): Quantity => new Quantity(parseNanos(text));
  const isQuantity = (text: unknown): boolean => {
    try {
      return typeof text === 'string' && compareQuantities(text, text) === 0;
    } catch {
      return false;
    }
  };
  environment.registerType('Quantity', { ctor: Quantity, fields: {} });
  environment.registerFunction('quantity(string): Quantity', read);
  environment.registerFunction('isQuantity(string): bool', isQuantity);
  const compare = (name: string, holds: (a: bigint, b: bigint) => boolean): void => {
    environment.registerFunction(`Quantity.${name}(Quantity): bool`, (a: Quantity, b: Quantity) =>
      holds(a.nanos, b.nanos),
    );
  };
  compare('isGreaterThan', (a, b) => a > b);
  compare('isLessThan', (a, b) => a < b);
  environment.registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) =>
    a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n,
  );
  environment.registerFunction(
    'Quantity.add(Quantity): Quantity',
    (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos),
  );
  environment.registerFunction(
    'Quantity.sub(Quantity): Quantity',
    (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos),
  );
  environment.registerFunction('Quantity.isInteger(): bool', (a: Quantity) => a.nanos % NANO === 0n);
  environment.registerFunction('Quantity.asInteger(): int', (a: Quantity) => a.nanos / NANO);
  environment.registerFunction(
    'Quantity.asApproximateFloat(): double',
    (a: Quantity) => Number(a.nanos) / Number(NANO),
  );
  environment.registerFunction('Quantity.sign(): int', (a: Quantity) => (a.nanos > 0n ? 1n : a.nanos < 0n ? -1n : 0n));
  environment.registerFunction('string(Quantity): string', (a: Quantity) => formatNanos(a.nanos));
}
