import type { DisruptionLedger } from '../api/quorate/types.ts';
import { GRANT_MS } from '../decisions/disruption/index.ts';
import type { Clock, Informer } from '../machinery/runtime/index.ts';
import { isAsNewAs } from '../machinery/values/index.ts';
import { type LedgerEntry, newEntry } from './ledger-entry.ts';
import { withGrants } from './ledger-grants.ts';
import { SeenHolds } from './ledger-hold.ts';

export type WatchedLedgers = Pick<Informer<DisruptionLedger>, 'get' | 'addHandler' | 'whenSynced'>;

/**
 * What one replica knows of each ledger: the newest version that it read, wrote or was shown, with what it granted since
 * on top, and the last state of ledgers that were deleted.
 */
export class LedgerCopies {
  readonly holds: SeenHolds;
  readonly #clock: Clock;
  readonly #ledgers: WatchedLedgers;
  readonly #entries = new Map<string, LedgerEntry>();
  /** The last version of each that the watch has shown. */
  readonly #shown = new Map<string, string>();
  /** How many were given when a version was got here. */
  readonly #gotAt = new WeakMap<DisruptionLedger, number>();

  constructor(ledgers: WatchedLedgers, clock: Clock) {
    this.#ledgers = ledgers;
    this.#clock = clock;
    this.holds = new SeenHolds(clock);
  }

  entries(): Iterable<LedgerEntry> {
    return this.#entries.values();
  }

  get(namespace: string, name: string): DisruptionLedger | undefined {
    const entry = this.#entries.get(`${namespace}/${name}`);
    return entry === undefined ? this.#ledgers.get({ namespace, name }) : this.view(entry);
  }

  entry({ name = '', namespace = '' }: { namespace?: string | undefined; name?: string | undefined }): LedgerEntry {
    const key = `${namespace}/${name}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = newEntry(namespace, name);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  newest({ lost, name, namespace, newest }: LedgerEntry): DisruptionLedger | undefined {
    if (newest !== undefined) return newest;
    const shown = this.#ledgers.get({ namespace, name });
    return lost !== undefined && shown?.metadata.uid === lost ? undefined : shown;
  }

  /** The newest version with what was given ahead. */
  view(entry: LedgerEntry): DisruptionLedger | undefined {
    if (entry.view !== undefined) return entry.view;
    const newest = this.newest(entry);
    if (newest === undefined) return undefined;
    const grants = entry.ahead.map(({ grant }) => grant);
    entry.view = grants.length === 0 ? newest : { ...newest, status: withGrants(newest.status ?? {}, grants) };
    this.#gotAt.set(entry.view, entry.given);
    return entry.view;
  }

  /** Whether something was given since this version was got here. */
  isOvertaken(entry: LedgerEntry, ledger: DisruptionLedger): boolean {
    return (this.#gotAt.get(ledger) ?? 0) !== entry.given;
  }

  /** Takes in a version that was written or read here, which the watch may show later. */
  learn(entry: LedgerEntry, ledger: DisruptionLedger): void {
    const known = this.newest(entry);
    if (known !== undefined && isAsNewAs(versionOf(known), versionOf(ledger))) return;
    entry.newest = ledger;
    entry.view = undefined;
    this.holds.note(entry.key, ledger.status?.hold);
  }

  /** Takes in what the watch shows; the entry, where this replica has to do with the ledger and did not know it. */
  shown(ledger: DisruptionLedger): LedgerEntry | undefined {
    const { name = '', namespace = '' } = ledger.metadata;
    const key = `${namespace}/${name}`;
    const entry = this.#entries.get(key);
    this.#shown.set(key, versionOf(ledger));
    if (entry?.newest !== undefined && !isAsNewAs(versionOf(ledger), versionOf(entry.newest))) return undefined;
    this.holds.note(key, ledger.status?.hold);
    if (entry === undefined) return undefined;
    entry.newest = undefined;
    entry.view = undefined;
    return entry;
  }

  /**
   * The watch shows that a ledger was deleted, and all that happened to it before; a watch that was interrupted does
   * not, and shows what was known last. Whoever makes it again starts from there.
   */
  deleted(ledger: DisruptionLedger): void {
    const entry = this.entry(ledger.metadata);
    const isLast = this.#shown.get(entry.key) !== versionOf(ledger);
    this.#shown.delete(entry.key);
    if (ledger.status !== undefined) this.remember(entry, ledger, isLast);
    const isMadeAgain = entry.newest !== undefined && entry.newest.metadata.uid !== ledger.metadata.uid;
    if (!isMadeAgain) this.missing(entry, ledger);
    for (const [key, { ahead, remembered }] of this.#entries) {
      const isOver = remembered !== undefined && this.#clock.elapsed() - remembered.atMs > GRANT_MS;
      if (isOver && ahead.length === 0) this.#entries.delete(key);
    }
  }

  /** What was granted under a ledger is not over because it is gone. */
  remember(entry: LedgerEntry, ledger: DisruptionLedger, isLast: boolean): void {
    entry.remembered = { ledger, isLast, atMs: this.#clock.elapsed() };
  }

  /** There is no such ledger any longer, whatever the watch still shows. */
  missing(entry: LedgerEntry, last = this.newest(entry)): void {
    if (last !== undefined) entry.lost = last.metadata.uid;
    entry.newest = undefined;
    entry.view = undefined;
  }

  /** Known to be deleted while the watch has still to show what happened to it before. */
  isBeingLost({ lost, name, namespace }: LedgerEntry): boolean {
    const shown = this.#ledgers.get({ namespace, name });
    return lost !== undefined && shown?.metadata.uid === lost;
  }
}

export const versionOf = ({ metadata }: DisruptionLedger): string => metadata.resourceVersion ?? '';

/** Strictly. */
export const isNewer = (a: DisruptionLedger, b: DisruptionLedger): boolean =>
  versionOf(a) !== versionOf(b) && isAsNewAs(versionOf(a), versionOf(b));
