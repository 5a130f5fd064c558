import type { DisruptionLedger } from '../api/quorate/types.ts';
import type { Charge } from '../decisions/disruption/index.ts';
import type { Moment } from './ledger-hold.ts';

/** A grant with its place among those given ahead. */
export interface Given extends Charge {
  readonly number: number;
}

/** What this replica has to do with one ledger. */
export interface Entry {
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

export function newEntry(namespace: string, name: string): Entry {
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    newest: undefined,
    view: undefined,
    ahead: [],
    given: 0,
    heldSince: undefined,
    sharedUntilMs: Number.NEGATIVE_INFINITY,
    turn: Promise.resolve(),
    granting: 0,
    settling: undefined,
    isListing: false,
  };
}
