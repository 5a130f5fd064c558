/** What clients noted: plain data, written to a file where a rule was broken, and judged again from there. */
import type { Timed } from './linearize.ts';

/** Kinds whose objects hold a value: a text, or a list to which patches append. */
export const COLLECTIONS = ['configmaps', 'roles', 'pods'] as const;
export type Collection = (typeof COLLECTIONS)[number];

export type Answer =
  /** Writes and reads tell the object; deletions don't. */
  | { readonly is: 'done'; readonly value?: string; readonly revision?: number }
  | { readonly is: 'absent' | 'exists' | 'conflict' | 'mismatch' | 'full' };

export interface ObjectOperation extends Timed {
  readonly kind: 'create' | 'put' | 'append' | 'swap' | 'delete' | 'evict' | 'get';
  readonly client: string;
  readonly collection: Collection;
  readonly name: string;
  /** What is written: told from all other writes by itself. */
  readonly value?: string | undefined;
  /** Only while the object has this revision, or, in a swap, this value. */
  readonly revision?: number | undefined;
  readonly expected?: string | undefined;
  readonly answer?: Answer | undefined;
}

/** What is done to a budget's allowance, which evictions use up. */
export interface BudgetOperation extends Timed {
  readonly kind: 'evict' | 'get' | 'set';
  readonly client: string;
  /** Of a set: the new allowance, written only while the budget has this revision. */
  readonly allowed?: number | undefined;
  readonly revision?: number | undefined;
  readonly answer?:
    | { readonly is: 'done'; readonly allowed?: number; readonly revision?: number }
    | { readonly is: 'full' | 'conflict' }
    | undefined;
}

export interface Item {
  readonly name: string;
  readonly value: string;
  readonly revision: number;
}

export interface Listing extends Timed {
  readonly client: string;
  readonly collection: Collection;
  readonly answered: number;
  readonly revision: number;
  readonly items: readonly Item[];
  /** Read in pages, or at a revision that was told: the state is an older one. */
  readonly isPast: boolean;
}

export interface Heard extends Item {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly uid: string;
  readonly at: number;
}

export interface Bookmark {
  readonly type: 'BOOKMARK';
  readonly revision: number;
  /** The current state was told up to here. */
  readonly endsInitial: boolean;
}

/** One watch, from its request to its end. */
export interface Stream {
  readonly client: string;
  readonly collection: Collection;
  /** Of one object alone. */
  readonly name?: string | undefined;
  /** After this revision; undefined where the current state was asked for first. */
  readonly from: number | undefined;
  readonly called: number;
  /** The history after `from` was said to be gone. */
  isGone: boolean;
  readonly heard: (Heard | Bookmark)[];
}

export interface History {
  readonly seed: number;
  /** When each life of the server began to answer, and the revision it had then. */
  readonly lives: { readonly since: number; readonly revision: number }[];
  readonly operations: ObjectOperation[];
  readonly budget: BudgetOperation[];
  readonly listings: Listing[];
  readonly streams: Stream[];
}

export interface Violation {
  readonly rule: string;
  readonly text: string;
}

export const emptyHistory = (seed: number): History => ({
  seed,
  lives: [],
  operations: [],
  budget: [],
  listings: [],
  streams: [],
});
