import {
  type DisruptionLedger,
  type DisruptionLedgerStatus,
  disruptionLedgerType,
  type LedgerGrant,
  type LedgerHold,
} from '../api/quorate/types.ts';
import type { DisruptionIndex } from '../decisions/disruption/index.ts';
import { type Client, type Clock, isConflict, isNotFound, type Logger, sleep } from '../machinery/runtime/index.ts';
import { isAsNewAs } from '../machinery/values/index.ts';
import { isNewer, LedgerCopies, type WatchedLedgers } from './ledger-copies.ts';
import { conflict, type LedgerEntry, type Wanted } from './ledger-entry.ts';
import { isSamePod, recounted, withGrants, withoutGrant } from './ledger-grants.ts';
import { isInTime, momentOf, withSilence } from './ledger-hold.ts';
import { type LedgerMeasure, unmeasured } from './ledger-measure.ts';

export interface LedgerDeskOptions {
  readonly client: Client;
  /** This machine's own: how long a hold lasts is counted, never compared. */
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  readonly ledgers: WatchedLedgers;
  /** Now, by the API server's clock. */
  readonly now: () => number;
  /** Whether the pods of a namespace are known here as they are now: what was evicted until now shows in them. */
  readonly sawPods: (namespace: string, signal: AbortSignal) => Promise<boolean>;
  /** Names this process among all there are and were. */
  readonly identity: string;
  readonly log: Logger;
  /** A process younger than this holds nothing: what dies young must not keep others waiting. Default 0. */
  readonly holdsAfterMs?: number | undefined;
  /** Ends every attempt to write. */
  readonly signal?: AbortSignal | undefined;
  readonly measure?: LedgerMeasure | undefined;
}

/** How long a ledger that several replicas grant under is held by none. */
const SHARED_MS = 30_000;
/** The API server is busy with the eviction at first, and whatever else is given meanwhile is listed by the same write. */
export const LIST_MS = 20;
const CLAIM_LIMIT_MS = 2000;
const CLAIM_STEP_MS = 20;
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;
/** An API server that is away keeps all ledgers waiting; it is said once for all of them, and now and then again. */
const COMPLAIN_MS = 10_000;

/**
 * The ledgers as one replica knows and writes them. A grant is written before it is given, unless this replica holds the
 * ledger: then it is given at once and written right after, and every other replica waits for the holder to let go. A
 * ledger is held by whoever granted under it last; see ADR 0010.
 */
export class LedgerDesk {
  readonly #options: LedgerDeskOptions;
  readonly #copies: LedgerCopies;
  readonly #measure: LedgerMeasure;
  readonly #bornMs: number;
  #stamps = 0;
  #complainedMs = Number.NEGATIVE_INFINITY;
  #closing = false;

  constructor(options: LedgerDeskOptions) {
    this.#options = options;
    this.#measure = options.measure ?? unmeasured;
    this.#bornMs = options.clock.elapsed();
    this.#copies = new LedgerCopies(options.ledgers, options.clock);
    const shown = (ledger: DisruptionLedger): void => this.#shown(ledger);
    options.ledgers.addHandler({ added: shown, updated: shown, deleted: (ledger) => this.#copies.deleted(ledger) });
  }

  /** The newest version known here, with what was granted here since. */
  get(namespace: string, name: string): DisruptionLedger | undefined {
    return this.#copies.get(namespace, name);
  }

  /** The version of this moment, likewise. */
  async read(namespace: string, name: string): Promise<DisruptionLedger | undefined> {
    const entry = this.#copies.entry({ namespace, name });
    try {
      this.#copies.learn(entry, await this.#options.client.get(disruptionLedgerType, { namespace, name }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#copies.missing(entry);
      return undefined;
    }
    return this.#copies.view(entry);
  }

  /**
   * Lists a grant that was judged by this version; throws a conflict where there is a newer one by now. With `others`,
   * grants of those who go with it, everything is written first.
   */
  async grant(
    ledger: DisruptionLedger,
    grant: LedgerGrant,
    others: readonly LedgerGrant[] = [],
  ): Promise<DisruptionLedger> {
    const entry = this.#copies.entry(ledger.metadata);
    if (others.length === 0 && this.#isHeld(entry) && entry.granting === 0 && ledger === this.#copies.view(entry)) {
      entry.given += 1;
      entry.ahead = [...entry.ahead.filter((one) => !isSamePod(one.grant, grant)), { grant, number: entry.given }];
      entry.view = undefined;
      this.#listSoon(entry);
      return this.#copies.view(entry) ?? ledger;
    }
    return this.write(ledger, withGrants(ledger.status ?? {}, [grant, ...others]), { grants: true });
  }

  /**
   * Takes back a grant that nobody was told about; `before` is the entry it took the place of. One that has been
   * replaced since, or cannot be written off, stays until it is over.
   */
  async takeBack(
    { name, namespace }: { namespace: string; name: string },
    grant: LedgerGrant,
    before: LedgerGrant | undefined,
  ): Promise<void> {
    const entry = this.#copies.entry({ namespace, name });
    const isAhead = entry.ahead.some((one) => one.grant === grant);
    entry.given += 1;
    entry.ahead = entry.ahead.filter((one) => one.grant !== grant);
    // It may be on its way to the list as well; what it replaced may not have got there.
    if (isAhead && before !== undefined) entry.ahead = [...entry.ahead, { grant: before, number: entry.given }];
    entry.view = undefined;
    const done = this.#inTurn(entry, async () => {
      const view = this.#copies.view(entry);
      const status = view && withoutGrant(view.status ?? {}, grant, before);
      if (view !== undefined && status !== undefined)
        await this.#put(entry, view, { status: this.#recounted(view, status) });
    });
    await done.catch(() => {});
  }

  /**
   * Writes what follows from a version that was got here; throws a conflict where there is a newer one by now. The hold
   * is seen to here: what the status says about it does not matter.
   */
  async write(
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    { grants = false, release = false }: { grants?: boolean; release?: boolean } = {},
  ): Promise<DisruptionLedger> {
    const entry = this.#copies.entry(ledger.metadata);
    if (release && !(await this.claim(ledger, this.#options.signal)))
      throw conflict(ledger, 'another replica holds it');
    if (grants) entry.granting += 1;
    try {
      return await this.#inTurn(entry, () =>
        this.#put(entry, ledger, { status: grants ? this.#recounted(ledger, status) : status, grants, release }),
      );
    } finally {
      if (grants) entry.granting -= 1;
    }
  }

  /**
   * Makes a ledger, or fills one that was only made: with the grants and the hold that are remembered of one that was
   * deleted, or of `before`, which it takes the place of. Where nobody remembers, `unknown` says that there may have been grants: nothing is given until those show.
   */
  async begin(
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    { before, unknown }: { unknown: boolean; before?: DisruptionLedger | undefined },
  ): Promise<DisruptionLedger> {
    const entry = this.#copies.entry(ledger.metadata);
    if (before !== undefined) {
      this.#copies.remember(entry, before, true);
      this.#copies.missing(entry, before);
    } else if (this.#copies.isBeingLost(entry))
      throw conflict(ledger, 'what became of the one before is not known yet');
    const made = ledger.metadata.uid ? ledger : await this.#options.client.create(disruptionLedgerType, ledger);
    this.#copies.learn(entry, made);
    const view = this.#copies.view(entry) ?? made;
    const { remembered } = entry;
    const known = remembered?.ledger.status;
    const counted = known?.podsResourceVersion ?? '';
    if (!isAsNewAs(status.podsResourceVersion ?? '', counted)) throw conflict(made, 'it was counted from newer pods');
    const nobody = { holder: 'unknown', stamp: made.metadata.uid ?? '' };
    const isSure = remembered === undefined ? !unknown : remembered.isLast;
    const hold = isSure ? known?.hold : nobody;
    const carried = [...(known?.grants ?? []), ...(view.status?.grants ?? [])];
    const full = this.#recounted(view, withGrants({ ...status, grants: status.grants ?? [] }, carried));
    const begun = await this.#inTurn(entry, () => this.#put(entry, view, { status: full, begins: { hold } }));
    if (remembered !== undefined) this.#measure.recreated();
    entry.remembered = undefined;
    return begun;
  }

  /** Whether another replica has to let go before anything is granted here. */
  isHeldElsewhere({ metadata: { name = '', namespace = '' }, status }: DisruptionLedger): boolean {
    const hold = status?.hold;
    return (
      hold !== undefined &&
      hold.holder !== this.#options.identity &&
      !this.#copies.holds.isOver(`${namespace}/${name}`, hold)
    );
  }

  /**
   * Asks the holder of a ledger to let go. False when it does not in time: it may be gone, with grants that nobody knows
   * of. Its hold ends when it has been silent for long enough and the pods of now are known here.
   */
  async claim(
    { metadata: { name = '', namespace = '' } }: DisruptionLedger,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<boolean> {
    const { clock, sawPods } = this.#options;
    const entry = this.#copies.entry({ namespace, name });
    const deadline = clock.elapsed() + CLAIM_LIMIT_MS;
    for (;;) {
      const ledger = this.#copies.view(entry);
      const hold = ledger?.status?.hold;
      if (ledger === undefined || hold === undefined || !this.isHeldElsewhere(ledger)) return true;
      if (this.#copies.holds.isAbandoned(entry.key, hold)) {
        if (!(await sawPods(namespace, signal))) return false;
        this.#copies.holds.end(entry.key, hold);
        return true;
      }
      if (clock.elapsed() >= deadline) {
        // A successor goes on from there: it need not live as long as a silent holder binds.
        const noted = withSilence(hold, this.#copies.holds.silentMs(entry.key, hold));
        if (noted !== undefined) await this.#say(entry, ledger, noted);
        return false;
      }
      this.#share(entry);
      if (hold.recalled) await sleep(clock, CLAIM_STEP_MS, signal);
      else await this.#say(entry, ledger, { ...hold, recalled: true });
    }
  }

  /** Of a hold that is another's, and only where nothing was written meanwhile. */
  async #say(entry: LedgerEntry, ledger: DisruptionLedger, hold: LedgerHold): Promise<void> {
    const status = { ...ledger.status, hold };
    const write = () => this.#options.client.updateStatus(disruptionLedgerType, { ...ledger, status });
    try {
      this.#copies.learn(entry, await this.#measure.time('recall', write));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      await this.read(entry.namespace, entry.name);
    }
  }

  follow(changed: (ledger: DisruptionLedger) => void): void {
    this.#options.ledgers.addHandler({ added: changed, updated: changed, deleted: changed });
  }

  whenSynced(): Promise<void> {
    return this.#options.ledgers.whenSynced();
  }

  /** Lists what was given and lets go of everything: others need not wait for a replica that stops. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#copies.entries()].map((entry) => this.#settle(entry)));
  }

  #recounted({ metadata }: DisruptionLedger, status: DisruptionLedgerStatus): DisruptionLedgerStatus {
    const { index, now } = this.#options;
    return recounted(index, metadata, status, now());
  }

  #shown(ledger: DisruptionLedger): void {
    const entry = this.#copies.shown(ledger);
    if (entry === undefined) return;
    const isBack = entry.lost !== undefined && entry.lost !== ledger.metadata.uid;
    if (isBack) entry.lost = undefined;
    if (this.#mustLetGo(entry) || (isBack && this.#isUnsettled(entry))) void this.#settle(entry);
  }

  #isHeld(entry: LedgerEntry): boolean {
    const hold = this.#copies.newest(entry)?.status?.hold;
    if (hold?.holder !== this.#options.identity || hold.recalled || this.#closing) return false;
    return entry.heldSince !== undefined && isInTime(entry.heldSince, this.#options.clock);
  }

  #mustLetGo(entry: LedgerEntry): boolean {
    const hold = this.#copies.newest(entry)?.status?.hold;
    return hold?.holder === this.#options.identity && (hold.recalled === true || this.#closing);
  }

  #share(entry: LedgerEntry): void {
    entry.sharedUntilMs = this.#options.clock.elapsed() + SHARED_MS;
  }

  #inTurn<T>(entry: LedgerEntry, work: () => Promise<T>): Promise<T> {
    const done = entry.turn.then(work);
    entry.turn = done.catch(() => {});
    return done;
  }

  async #put(entry: LedgerEntry, ledger: DisruptionLedger, wanted: Wanted): Promise<DisruptionLedger> {
    const { client, clock, identity } = this.#options;
    const known = this.#copies.newest(entry);
    const { given } = entry;
    if (this.#copies.isOvertaken(entry, ledger)) throw conflict(ledger, 'more was granted since it was read');
    if (known !== undefined && isNewer(known, ledger)) throw conflict(ledger, 'it was written since it was read');
    const hold = wanted.begins === undefined ? this.#holdToWrite(entry, known ?? ledger, wanted) : wanted.begins.hold;
    const { hold: _, ...rest } = wanted.status;
    const isOurs = hold?.holder === identity;
    // From here on nothing is given ahead that this write does not list.
    if (!isOurs) entry.heldSince = undefined;
    const sent = momentOf(clock);
    let written: DisruptionLedger;
    try {
      const status = hold ? { ...rest, hold } : rest;
      const kind = wanted.grants ? 'grant' : wanted.lists ? 'list' : 'count';
      written = await this.#measure.time(kind, () => client.updateStatus(disruptionLedgerType, { ...ledger, status }));
    } catch (error) {
      if (isNotFound(error)) this.#copies.missing(entry);
      throw error;
    }
    entry.ahead = entry.ahead.filter(({ number }) => number > given);
    entry.view = undefined;
    this.#copies.learn(entry, written);
    // A definition of an earlier version does not keep it.
    if (isOurs && wanted.begins === undefined)
      entry.heldSince = written.status?.hold?.stamp === hold.stamp ? sent : undefined;
    return this.#copies.view(entry) ?? written;
  }

  #holdToWrite(
    entry: LedgerEntry,
    known: DisruptionLedger,
    { grants = false, release = false }: Wanted,
  ): LedgerHold | undefined {
    const { clock, holdsAfterMs = 0, identity } = this.#options;
    const current = known.status?.hold;
    if (current !== undefined && current.holder !== identity) {
      if (!grants && !release) return current;
      if (this.isHeldElsewhere(known)) throw conflict(known, `${current.holder} holds it`);
    }
    if (this.#mustLetGo(entry)) this.#share(entry);
    if (clock.elapsed() - this.#bornMs < holdsAfterMs) return undefined;
    if (release || this.#closing || clock.elapsed() < entry.sharedUntilMs || (!grants && !this.#isHeld(entry)))
      return undefined;
    this.#stamps += 1;
    return { holder: identity, stamp: String(this.#stamps) };
  }

  #listSoon(entry: LedgerEntry): void {
    if (entry.isListing) return;
    entry.isListing = true;
    this.#options.clock.after(LIST_MS, () => {
      entry.isListing = false;
      void this.#settle(entry);
    });
  }

  /** Writes until everything given is listed, and nothing is held that another replica wants. */
  #settle(entry: LedgerEntry): Promise<void> {
    entry.settling ??= this.#settleNow(entry).finally(() => {
      entry.settling = undefined;
      // What came after the last look, and before this.
      if (this.#isUnsettled(entry)) void this.#settle(entry);
    });
    return entry.settling;
  }

  #isUnsettled(entry: LedgerEntry): boolean {
    if (this.#options.signal?.aborted) return false;
    // Without a ledger there is nothing to write to; when it is back the watch says so.
    if (this.#copies.newest(entry)?.status === undefined) return false;
    return entry.ahead.length > 0 || this.#mustLetGo(entry);
  }

  async #settleNow(entry: LedgerEntry): Promise<void> {
    const { clock } = this.#options;
    for (let failures = 0; this.#isUnsettled(entry); ) {
      try {
        await this.#inTurn(entry, async () => {
          const view = this.#copies.view(entry);
          if (view !== undefined && this.#isUnsettled(entry))
            await this.#put(entry, view, { status: this.#recounted(view, view.status ?? {}), lists: true });
        });
        failures = 0;
      } catch (error) {
        if (isNotFound(error)) return;
        if (isConflict(error)) {
          await this.read(entry.namespace, entry.name).catch(() => {});
          continue;
        }
        failures += 1;
        this.#complain(error);
        await sleep(clock, Math.min(RETRY_MS * 2 ** failures, LONGEST_RETRY_MS));
      }
    }
  }

  #complain(error: unknown): void {
    const { clock, log } = this.#options;
    if (clock.elapsed() - this.#complainedMs < COMPLAIN_MS) return;
    this.#complainedMs = clock.elapsed();
    const ledgers = [...this.#copies.entries()].filter((entry) => this.#isUnsettled(entry)).map(({ key }) => key);
    const fields = { ledgers: ledgers.length, one: ledgers[0], error: String(error) };
    log.warn(fields, 'what was granted is not written to the ledgers yet; trying again');
  }
}
