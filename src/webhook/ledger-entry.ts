import type { DisruptionLedger, DisruptionLedgerStatus, LedgerGrant, LedgerHold } from '../api/quorate/types.ts';
import { ApiError } from '../machinery/runtime/index.ts';
import type { Moment } from './ledger-hold.ts';

/** A grant with its place among those given ahead. */
export interface Given {
  readonly grant: LedgerGrant;
  readonly number: number;
}

export interface Remembered {
  readonly ledger: DisruptionLedger;
  /** It is known to be the very last state: nobody granted anything after it. */
  readonly isLast: boolean;
  readonly atMs: number;
}

/** What this replica has to do with one ledger. */
export interface LedgerEntry {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The newest version known, while the watch has not shown it. */
  newest: DisruptionLedger | undefined;
  /** The newest version with `ahead` on top; made when asked for. */
  view: DisruptionLedger | undefined;
  /** Given here and not in the newest version. */
  ahead: readonly Given[];
  /** How many were ever given ahead: a version that was got before the last of them is out of date. */
  given: number;
  /** The last state of a ledger that was deleted, and when: its grants and its hold are not over because of that. */
  remembered: Remembered | undefined;
  /** UID of the ledger that is known to be deleted, whatever the watch still shows. */
  lost: string | undefined;
  /** From when a hold of ours counts; undefined where we have none. */
  heldSince: Moment | undefined;
  /** Until when, in elapsed time, no hold is taken: others grant under this ledger as well. */
  sharedUntilMs: number;
  /** The last of our writes: they go one after the other. */
  turn: Promise<unknown>;
  /** Writes under way that grant something, which the view does not show. */
  granting: number;
  settling: Promise<void> | undefined;
  /** What was given is about to be listed. */
  isListing: boolean;
}

export function newEntry(namespace: string, name: string): LedgerEntry {
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    newest: undefined,
    view: undefined,
    ahead: [],
    given: 0,
    remembered: undefined,
    lost: undefined,
    heldSince: undefined,
    sharedUntilMs: Number.NEGATIVE_INFINITY,
    turn: Promise.resolve(),
    granting: 0,
    settling: undefined,
    isListing: false,
  };
}

/** What is to be written. */
export interface Wanted {
  readonly status: DisruptionLedgerStatus;
  /** It grants by itself: others must not hold the ledger. */
  readonly grants?: boolean;
  /** Nobody holds it afterwards: whoever grants next must have seen this. */
  readonly release?: boolean;
  /** It lists what was given ahead. */
  readonly lists?: boolean;
  /** The first status of a ledger, with its hold. */
  readonly begins?: { readonly hold: LedgerHold | undefined };
}

export function conflict({ metadata }: DisruptionLedger, why: string): ApiError {
  const message = `Cannot write ledger ${metadata.namespace}/${metadata.name}: ${why}`;
  return new ApiError(409, { kind: 'Status', code: 409, reason: 'Conflict', message });
}
