import { type Labels, matches, type Selector } from '../../machinery/values/index.ts';
import { HOLD_LABEL } from './room.ts';

/** One list for the many that nothing selects. */
const NONE: readonly never[] = [];

/**
 * Finds which of many selectors match a set of labels without asking each: a selector that requires `key=value` is
 * only asked when the labels have that pair.
 */
export class SelectorIndex<T> {
  readonly #byPair = new Map<string, Set<T>>();
  readonly #others = new Set<T>();
  readonly #selectors = new Map<T, Selector>();
  /** One list for the many that only this one selects. */
  readonly #alone = new Map<T, readonly T[]>();

  set(owner: T, selector: Selector): void {
    this.delete(owner);
    if (selector.matchesNothing) return;
    this.#selectors.set(owner, selector);
    this.#alone.set(owner, [owner]);
    const pairs = requiredPairs(selector);
    if (pairs === undefined) this.#others.add(owner);
    for (const pair of pairs ?? []) {
      const owners = this.#byPair.get(pair);
      if (owners === undefined) this.#byPair.set(pair, new Set([owner]));
      else owners.add(owner);
    }
  }

  delete(owner: T): void {
    const selector = this.#selectors.get(owner);
    if (selector === undefined) return;
    this.#selectors.delete(owner);
    this.#alone.delete(owner);
    this.#others.delete(owner);
    for (const pair of requiredPairs(selector) ?? []) {
      const owners = this.#byPair.get(pair);
      owners?.delete(owner);
      if (owners?.size === 0) this.#byPair.delete(pair);
    }
  }

  /** Pods that hold room for others are selected by nobody, not even by those who select all. */
  matching(labels: Labels): readonly T[] {
    if (this.#selectors.size === 0 || labels[HOLD_LABEL] === 'true') return NONE;
    const found: T[] = [];
    const ask = (owner: T): void => {
      if (matches(this.#selectors.get(owner) as Selector, labels)) found.push(owner);
    };
    if (this.#byPair.size > 0) {
      for (const key in labels) this.#byPair.get(pairOf(key, labels[key] as string))?.forEach(ask);
    }
    this.#others.forEach(ask);
    const [first] = found;
    if (first === undefined) return NONE;
    return found.length === 1 ? (this.#alone.get(first) ?? found) : found;
  }
}

const pairOf = (key: string, value: string): string => `${key}\n${value}`;

/** The pairs of the `In` requirement with the fewest values: any match has exactly one of them. */
function requiredPairs({ requirements }: Selector): string[] | undefined {
  let best: { key: string; values: readonly string[] } | undefined;
  for (const requirement of requirements) {
    if (requirement.operator !== 'In') continue;
    if (best === undefined || requirement.values.length < best.values.length) best = requirement;
  }
  return best === undefined ? undefined : [...new Set(best.values)].map((value) => pairOf(best.key, value));
}
