import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StoreDamagedError } from './damage.ts';

/** LMDB's file format, version 2 of its data: offsets into pages, all little endian. */
export const PAGE_HEADER = 24;
export const BRANCH = 1;
export const LEAF = 2;
export const OVERFLOW = 4;
const META = 8;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const SMALLEST_PAGE = 512;
const LARGEST_PAGE = 65_536;
/** The list of free pages is ordered by number, every other tree by bytes. */
const BY_NUMBER = 8;
const BY_BYTES = 0;
/** Length of a tree's description. */
export const TREE_BYTES = 48;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const READ_AHEAD = 4 * 1024 * 1024;

export interface Tree {
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined while the tree is empty. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly pageSize: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

/** Reads pages of a data file by itself: LMDB trusts its file, and a damaged one takes the whole process down. */
export class PageFile {
  readonly path: string;
  readonly size: number;
  readonly #descriptor: number;

  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'r');
    this.size = fstatSync(this.#descriptor).size;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  damaged(problem: string): StoreDamagedError {
    return new StoreDamagedError(this.path, problem);
  }

  /** Brings the file into the system's cache in the order in which it lies on disk; pages are read in another. */
  readAhead(): void {
    const buffer = Buffer.allocUnsafe(Math.min(READ_AHEAD, this.size));
    for (let at = 0; at < this.size; at += buffer.length) this.#read(buffer, at);
  }

  /** Fills `target` from `position`; a file that ends before is damaged. */
  fill(target: Buffer, position: number, what: string): void {
    if (this.#read(target, position) < target.length) {
      throw this.damaged(`the file ends after ${this.size} bytes, and ${what} lies behind that`);
    }
  }

  #read(target: Buffer, position: number): number {
    try {
      return readSync(this.#descriptor, target, 0, target.length, position);
    } catch (error) {
      throw new StoreDamagedError(this.path, `it cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }
}

/**
 * The newest state of the file. LMDB keeps two, written in turns, and takes whatever it finds in them: here both must
 * be what LMDB would have written, as a wrong number could bring an old state back without a word.
 */
export function readMeta(file: PageFile): Meta {
  const first = readOne(file, 0, 0);
  const second = readOne(file, 1, first.pageSize);
  if (second.pageSize !== first.pageSize) throw file.damaged('its two headers disagree about the size of pages');
  const fresh = first.transaction === 0 && second.transaction <= 1;
  const [older, newer] = first.transaction > second.transaction ? [second, first] : [first, second];
  const inTurn = newer.transaction === older.transaction + 1 && first.transaction % 2 === 0;
  if (!fresh && !inTurn) throw file.damaged('its two headers do not follow each other');
  return newer;
}

function readOne(file: PageFile, number: number, position: number): Meta {
  const page = Buffer.alloc(PAGE_HEADER + 144);
  file.fill(page, position, `header ${number + 1}`);
  const body = page.subarray(PAGE_HEADER);
  const pageSize = body.readUInt32LE(24);
  const isMeta = page.readUInt16LE(18) === META && page.readBigUInt64LE(0) === BigInt(number);
  if (!isMeta || body.readUInt32LE(0) !== MAGIC) throw file.damaged(`header ${number + 1} is not one of a store`);
  if ((body.readUInt32LE(4) & 0xffff) !== DATA_VERSION) {
    throw file.damaged(`header ${number + 1} names version ${body.readUInt32LE(4)} of the format, not ${DATA_VERSION}`);
  }
  if (pageSize < SMALLEST_PAGE || pageSize > LARGEST_PAGE || (pageSize & (pageSize - 1)) !== 0) {
    throw file.damaged(`header ${number + 1} names pages of ${pageSize} bytes`);
  }
  const lastPage = numberAt(file, body, 120);
  const mapped = numberAt(file, body, 16);
  if (lastPage < 1 || body.readBigUInt64LE(8) !== 0n || mapped < (lastPage + 1) * pageSize || mapped >= 2 ** 47) {
    throw file.damaged(`header ${number + 1} has impossible sizes`);
  }
  const free = readTree(file, body.subarray(24, 24 + TREE_BYTES), { order: BY_NUMBER, pad: pageSize });
  const main = readTree(file, body.subarray(72, 72 + TREE_BYTES));
  return { pageSize, free, main, lastPage, transaction: numberAt(file, body, 128) };
}

/** `order` and `pad`: what LMDB would obey, so that nothing else may stand there. */
export function readTree(file: PageFile, bytes: Buffer, { order = BY_BYTES, pad = 0 } = {}): Tree {
  const odd = bytes.length !== TREE_BYTES || bytes.readUInt16LE(4) !== order || bytes.readUInt32LE(0) !== pad;
  if (odd) throw file.damaged('a tree is of a kind this store does not use');
  const tree = {
    depth: bytes.readUInt16LE(6),
    branchPages: numberAt(file, bytes, 8),
    leafPages: numberAt(file, bytes, 16),
    overflowPages: numberAt(file, bytes, 24),
    entries: numberAt(file, bytes, 32),
    root: bytes.readBigUInt64LE(40) === NO_PAGE ? undefined : numberAt(file, bytes, 40),
  };
  if (tree.depth > 32 || (tree.root === undefined) !== (tree.depth === 0)) {
    throw file.damaged('a tree has an impossible depth');
  }
  return tree;
}

export function numberAt(file: PageFile, bytes: Buffer, offset: number): number {
  const value = Number(bytes.readBigUInt64LE(offset));
  if (!Number.isSafeInteger(value)) throw file.damaged('a number in it is too large');
  return value;
}
