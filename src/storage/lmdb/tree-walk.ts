import { BRANCH, LEAF, type Meta, numberAt, OVERFLOW, PAGE_HEADER, type PageFile, type Tree } from './page-file.ts';

const NODE_HEADER = 8;
const BIG = 1;
const SUB_TREE = 2;
const BIG_BYTES = 24;
const NOTHING = Buffer.alloc(0);

type Order = (a: Buffer, b: Buffer) => number;
const byBytes: Order = (a, b) => Buffer.compare(a, b);

/** One key with its value. The buffers are used again: copy what is to be kept. */
export interface Leaf {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isTree: boolean;
}

/**
 * Walks trees of a file whose header has been read, in order, and checks on the way all that LMDB would trust: every
 * page is where it should be, is used once, and is not newer than the header; keys lie in order; the counts are right.
 */
export class TreeWalker {
  readonly #file: PageFile;
  readonly #meta: Meta;
  readonly #used: Uint8Array;
  #counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
  #previous = NOTHING;
  /** The page above promises that the next key is not smaller. */
  #least = NOTHING;
  #run = NOTHING;

  constructor(file: PageFile, meta: Meta) {
    this.#file = file;
    this.#meta = meta;
    this.#used = new Uint8Array(meta.lastPage + 1);
    this.#used.fill(1, 0, 2);
  }

  walk(tree: Tree, visit: (leaf: Leaf) => void, order: Order = byBytes): void {
    this.#counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    this.#previous = NOTHING;
    this.#least = NOTHING;
    const pages = Array.from({ length: tree.depth }, () => Buffer.alloc(this.#meta.pageSize));
    if (tree.root !== undefined) this.#descend(tree.root, pages, 0, visit, order);
    for (const name of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const) {
      if (this.#counts[name] !== tree[name]) {
        throw this.#file.damaged(`${this.#counts[name]} ${name} were found where ${tree[name]} are noted`);
      }
    }
  }

  /** Notes pages as used; twice is damage. */
  claim(first: number, count: number): void {
    for (let at = first; at < first + count; at += 1) {
      if (at > this.#meta.lastPage || this.#used[at] !== 0)
        throw this.#file.damaged(`page ${at} is used twice, or is beyond the last`);
      this.#used[at] = 1;
    }
  }

  /** The root of the main tree is written by every commit: another number means that a header was changed. */
  expectRootOfLastCommit(tree: Tree): void {
    if (tree.root === undefined) return;
    const page = Buffer.alloc(PAGE_HEADER);
    this.#file.fill(page, tree.root * this.#meta.pageSize, `page ${tree.root}`);
    if (numberAt(this.#file, page, 8) !== this.#meta.transaction) {
      throw this.#file.damaged('its header and its first page are of different commits');
    }
  }

  #descend(number: number, pages: readonly Buffer[], level: number, visit: (leaf: Leaf) => void, order: Order): void {
    const isLeaf = level === pages.length - 1;
    const page = pages[level] as Buffer;
    const count = this.#load(number, page, isLeaf ? LEAF : BRANCH);
    if (isLeaf) this.#counts.leafPages += 1;
    else this.#counts.branchPages += 1;
    for (let at = 0; at < count; at += 1) {
      const node = this.#node(number, page, at, isLeaf);
      if (isLeaf) {
        this.#leaf(number, page, node, visit, order);
        continue;
      }
      // The first one stands for everything smaller than the second, whatever its key is.
      if (at > 0) this.#expectBetween(number, keyOf(page, node), order);
      this.#descend(childOf(page, node), pages, level + 1, visit, order);
    }
  }

  #expectBetween(number: number, key: Buffer, order: Order): void {
    if (order(this.#previous, key) >= 0) throw this.#file.damaged(`page ${number} has keys that are out of order`);
    this.#least = Buffer.from(key);
  }

  /** How many nodes the page has. */
  #load(number: number, page: Buffer, kind: number): number {
    const file = this.#file;
    this.claim(number, 1);
    file.fill(page, number * this.#meta.pageSize, `page ${number}`);
    const wrong = page.readBigUInt64LE(0) !== BigInt(number) || (page.readUInt16LE(18) & 0xff) !== kind;
    if (wrong || numberAt(file, page, 8) > this.#meta.transaction) {
      throw file.damaged(`page ${number} does not hold what belongs there`);
    }
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    if (lower === 0 || lower % 2 !== 0 || lower > upper || upper > page.length - PAGE_HEADER) {
      throw file.damaged(`page ${number} has an impossible layout`);
    }
    return lower / 2;
  }

  /** Where the node starts in the page, checked to end in it. */
  #node(number: number, page: Buffer, at: number, isLeaf: boolean): number {
    const start = page.readUInt16LE(PAGE_HEADER + at * 2) + PAGE_HEADER;
    const first = page.readUInt16LE(22) + PAGE_HEADER;
    const fits = start >= first && start % 2 === 0 && start + NODE_HEADER <= page.length;
    const end = fits ? start + NODE_HEADER + page.readUInt16LE(start + 6) + (isLeaf ? inlineBytes(page, start) : 0) : 0;
    if (!fits || end > page.length) throw this.#file.damaged(`page ${number} has an entry that is not inside it`);
    return start;
  }

  #leaf(number: number, page: Buffer, node: number, visit: (leaf: Leaf) => void, order: Order): void {
    const key = keyOf(page, node);
    const keyEnd = node + NODE_HEADER + key.length;
    const tooSmall = this.#least.length > 0 && order(this.#least, key) > 0;
    if (tooSmall || (this.#counts.entries > 0 && order(this.#previous, key) >= 0)) {
      throw this.#file.damaged(`page ${number} has keys that are out of order`);
    }
    this.#previous = Buffer.from(key);
    this.#least = NOTHING;
    this.#counts.entries += 1;
    const flags = page.readUInt16LE(node + 4);
    if ((flags & ~(BIG | SUB_TREE)) !== 0) throw this.#file.damaged(`page ${number} has an entry of an unknown kind`);
    const bytes = page.readUInt32LE(node);
    const value =
      (flags & BIG) === 0
        ? page.subarray(keyEnd, keyEnd + bytes)
        : this.#big(page.subarray(keyEnd, keyEnd + BIG_BYTES), bytes);
    visit({ key, value, isTree: (flags & SUB_TREE) !== 0 });
  }

  #big(reference: Buffer, bytes: number): Buffer {
    const file = this.#file;
    const { pageSize } = this.#meta;
    const first = numberAt(file, reference, 0);
    const count = numberAt(file, reference, 16);
    if (count !== Math.floor((PAGE_HEADER - 1 + bytes) / pageSize) + 1) {
      throw file.damaged(`page ${first} has an impossible length`);
    }
    this.claim(first, count);
    if (this.#run.length < PAGE_HEADER + bytes) this.#run = Buffer.allocUnsafeSlow((PAGE_HEADER + bytes) * 2);
    const run = this.#run.subarray(0, PAGE_HEADER + bytes);
    file.fill(run, first * pageSize, `page ${first}`);
    const wrong = run.readBigUInt64LE(0) !== BigInt(first) || (run.readUInt16LE(18) & 0xff) !== OVERFLOW;
    if (wrong || run.readUInt32LE(20) !== count) {
      throw file.damaged(`page ${first} does not hold what belongs there`);
    }
    this.#counts.overflowPages += count;
    return run.subarray(PAGE_HEADER);
  }
}

function inlineBytes(page: Buffer, node: number): number {
  return (page.readUInt16LE(node + 4) & BIG) === 0 ? page.readUInt32LE(node) : BIG_BYTES;
}

function keyOf(page: Buffer, node: number): Buffer {
  return page.subarray(node + NODE_HEADER, node + NODE_HEADER + page.readUInt16LE(node + 6));
}

function childOf(page: Buffer, node: number): number {
  return page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32;
}
