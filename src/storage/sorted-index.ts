import type { RangeOptions } from './store.ts';

const BLOCK_LIMIT = 512;

/**
 * Items sorted by key, in blocks of bounded size: an insert moves at most one block, a range is a few slices.
 * Order is that of JavaScript string comparison.
 */
export class SortedIndex<T extends { readonly key: string }> {
  #blocks: T[][] = [];
  /** The same items: most reads ask for one key, and a search touches a dozen others on its way. */
  readonly #byKey = new Map<string, T>();
  /** How many keys lie below each prefix that ends in a slash: most kinds have nothing in most namespaces. */
  readonly #below = new Map<string, Counter>();
  /** The counters of the folder that was counted last, which is often the next one too. */
  #folder: { readonly path: string; readonly counters: readonly Counter[] } | undefined;

  /** Takes items already in key order, each key once. */
  static fromSorted<T extends { readonly key: string }>(items: readonly T[]): SortedIndex<T> {
    const index = new SortedIndex<T>();
    // Half-full blocks leave room, so that the first inserts after loading do not split every block.
    for (let at = 0; at < items.length; at += BLOCK_LIMIT / 2)
      index.#blocks.push(items.slice(at, at + BLOCK_LIMIT / 2));
    for (const item of items) {
      index.#byKey.set(item.key, item);
      index.#count(item.key, 1);
    }
    return index;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): T | undefined {
    return this.#byKey.get(key);
  }

  set(item: T): void {
    const { size } = this.#byKey;
    this.#byKey.set(item.key, item);
    if (this.#byKey.size > size) this.#count(item.key, 1);
    const number = this.#blockOf(item.key);
    const block = this.#blocks[number];
    if (block === undefined) {
      this.#blocks.push([item]);
      return;
    }
    const at = lowerBound(block, item.key);
    if (block[at]?.key === item.key) {
      block[at] = item;
      return;
    }
    block.splice(at, 0, item);
    if (block.length > BLOCK_LIMIT) this.#split(number, block, at);
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#count(key, -1);
    const number = this.#blockOf(key);
    const block = this.#blocks[number] as T[];
    block.splice(lowerBound(block, key), 1);
    if (block.length === 0) this.#blocks.splice(number, 1);
  }

  clear(): void {
    this.#blocks = [];
    this.#byKey.clear();
    this.#below.clear();
    this.#folder = undefined;
  }

  range(prefix: string, { startAfter, limit = Number.POSITIVE_INFINITY }: RangeOptions = {}): T[] {
    const found: T[] = [];
    if (prefix.endsWith('/') && !this.#below.has(prefix)) return found;
    let from = this.#start(prefix, startAfter);
    if (!this.#at(from)?.key.startsWith(prefix)) return found;
    const end = this.#position(prefixEnd(prefix));
    while (found.length < limit && (from.block < end.block || (from.block === end.block && from.at < end.at))) {
      const block = this.#blocks[from.block] as T[];
      const until = from.block === end.block ? end.at : block.length;
      const room = limit - found.length;
      for (let at = from.at, last = Math.min(until, from.at + room); at < last; at++) found.push(block[at] as T);
      from = { block: from.block + 1, at: 0 };
    }
    return found;
  }

  count(prefix: string, startAfter?: string): number {
    const end = this.#position(prefixEnd(prefix));
    const from = this.#start(prefix, startAfter);
    if (from.block > end.block || (from.block === end.block && from.at >= end.at)) return 0;
    let count = end.at - from.at;
    for (let block = from.block; block < end.block; block++) count += (this.#blocks[block] as T[]).length;
    return count;
  }

  #count(key: string, by: 1 | -1): void {
    for (const counter of this.#countersOf(key)) {
      counter.keys += by;
      if (counter.keys > 0) continue;
      this.#below.delete(counter.prefix);
      this.#folder = undefined;
    }
  }

  /** One for each prefix of the key that ends in a slash. */
  #countersOf(key: string): readonly Counter[] {
    const end = key.lastIndexOf('/') + 1;
    const { path, counters: known } = this.#folder ?? {};
    if (known !== undefined && path?.length === end && key.startsWith(path)) return known;
    const counters: Counter[] = [];
    for (let at = key.indexOf('/') + 1; at > 0; at = key.indexOf('/', at) + 1) {
      const prefix = key.slice(0, at);
      let counter = this.#below.get(prefix);
      if (counter === undefined) this.#below.set(prefix, (counter = { prefix, keys: 0 }));
      counters.push(counter);
    }
    this.#folder = { path: key.slice(0, end), counters };
    return counters;
  }

  #start(prefix: string, startAfter: string | undefined): Position {
    // The key right after `startAfter` is `startAfter` with the smallest character added.
    return this.#position(startAfter !== undefined && startAfter >= prefix ? `${startAfter}\0` : prefix);
  }

  /** The first item from there on. */
  #at({ block, at }: Position): T | undefined {
    return this.#blocks[block]?.[at] ?? this.#blocks[block + 1]?.[0];
  }

  /** First place whose key is not less than `key`; past the end when `key` is undefined. */
  #position(key: string | undefined): Position {
    if (key === undefined) return { block: this.#blocks.length, at: 0 };
    const number = this.#blockOf(key);
    const block = this.#blocks[number];
    return { block: number, at: block === undefined ? 0 : lowerBound(block, key) };
  }

  /** The last block that starts at or before `key`, or the first one. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle] as T[])[0]!.key <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #split(number: number, block: T[], insertedAt: number): void {
    // Keys that only grow (names with a counter) fill blocks to the brim when the split leaves the old part whole.
    const at = insertedAt === block.length - 1 ? block.length - 1 : block.length >> 1;
    this.#blocks.splice(number + 1, 0, block.splice(at));
  }
}

interface Counter {
  readonly prefix: string;
  keys: number;
}

interface Position {
  readonly block: number;
  readonly at: number;
}

function lowerBound(block: readonly { readonly key: string }[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (block[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The least key greater than every key with this prefix; undefined when there is none. */
function prefixEnd(prefix: string): string | undefined {
  for (let at = prefix.length - 1; at >= 0; at--) {
    const code = prefix.charCodeAt(at);
    if (code < 0xffff) return prefix.slice(0, at) + String.fromCharCode(code + 1);
  }
  return undefined;
}
