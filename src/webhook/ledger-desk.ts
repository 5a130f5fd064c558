import {
  type DisruptionLedger,
  type DisruptionLedgerStatus,
  disruptionLedgerType,
  type LedgerHold,
} from '../api/quorate/types.ts';
import { type Charge, chargedStatus, type DisruptionIndex } from '../decisions/disruption/index.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type Informer,
  isConflict,
  isNotFound,
  type Logger,
  sleep,
} from '../machinery/runtime/index.ts';
import { formatTime, isAsNewAs } from '../machinery/values/index.ts';
import { type Entry, type Given, newEntry } from './ledger-entry.ts';
import { isInTime, momentOf, SeenHolds } from './ledger-hold.ts';

export interface LedgerDeskOptions {
  readonly client: Client;
  /** This machine's own: how long a hold lasts is counted, never compared. */
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  readonly ledgers: Pick<Informer<DisruptionLedger>, 'get' | 'addHandler' | 'whenSynced'>;
  /** Names this process among all there are and were. */
  readonly identity: string;
  readonly log: Logger;
  /** Ends every attempt to write. */
  readonly signal?: AbortSignal | undefined;
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
  readonly #entries = new Map<string, Entry>();
  readonly #holds: SeenHolds;
  /** How many were given when a version was got here. */
  readonly #gotAt = new WeakMap<DisruptionLedger, number>();
  #stamps = 0;
  #complainedMs = Number.NEGATIVE_INFINITY;
  #closing = false;

  constructor(options: LedgerDeskOptions) {
    this.#options = options;
    this.#holds = new SeenHolds(options.clock);
    const shown = (ledger: DisruptionLedger): void => this.#shown(ledger);
    options.ledgers.addHandler({ added: shown, updated: shown, deleted: (ledger) => this.#forget(keyOf(ledger)) });
  }

  /** The newest version known here, with what was granted here since. */
  get(namespace: string, name: string): DisruptionLedger | undefined {
    const entry = this.#entries.get(`${namespace}/${name}`);
    return entry === undefined ? this.#options.ledgers.get({ namespace, name }) : this.#viewOf(entry);
  }

  /** The version of this moment, likewise. */
  async read(namespace: string, name: string): Promise<DisruptionLedger | undefined> {
    const entry = this.#entry(namespace, name);
    try {
      this.#learn(entry, await this.#options.client.get(disruptionLedgerType, { namespace, name }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#forget(entry.key);
      return undefined;
    }
    return this.#viewOf(entry);
  }

  /** Lists a grant that was judged by this version; throws a conflict where there is a newer one by now. */
  async charge(ledger: DisruptionLedger, charge: Charge): Promise<DisruptionLedger> {
    const { name = '', namespace = '' } = ledger.metadata;
    const entry = this.#entry(namespace, name);
    if (this.#isHeld(entry) && entry.granting === 0 && ledger === this.#viewOf(entry)) {
      entry.given += 1;
      entry.ahead = [...entry.ahead, { ...charge, number: entry.given }];
      entry.view = undefined;
      this.#listSoon(entry);
      return this.#viewOf(entry) ?? ledger;
    }
    return this.write(ledger, chargedLedger(ledger.status ?? {}, charge, this.#options.index), { grants: true });
  }

  /**
   * Writes what follows from a version that was got here; throws a conflict where there is a newer one by now. The hold
   * is seen to here: what the status says about it does not matter.
   */
  async write(
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    { grants = false }: { grants?: boolean } = {},
  ): Promise<DisruptionLedger> {
    const { name = '', namespace = '' } = ledger.metadata;
    const entry = this.#entry(namespace, name);
    if (grants) entry.granting += 1;
    try {
      return await this.#inTurn(entry, () => this.#put(entry, ledger, status, grants));
    } finally {
      if (grants) entry.granting -= 1;
    }
  }

  /** Whether another replica has to let go before anything is granted here. */
  isHeldElsewhere({ metadata: { name = '', namespace = '' }, status }: DisruptionLedger): boolean {
    const hold = status?.hold;
    return (
      hold !== undefined && hold.holder !== this.#options.identity && !this.#holds.isOver(`${namespace}/${name}`, hold)
    );
  }

  /**
   * Asks the holder of a ledger to let go. False when it does not in time: it may be gone, with grants that nobody knows
   * of. Its hold ends when it has been silent for long enough and `sawPods` says that the pods of now are known here.
   */
  async claim(
    { metadata: { name = '', namespace = '' } }: DisruptionLedger,
    sawPods: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, clock } = this.#options;
    const entry = this.#entry(namespace, name);
    const deadline = clock.elapsed() + CLAIM_LIMIT_MS;
    for (;;) {
      const ledger = this.#viewOf(entry);
      const hold = ledger?.status?.hold;
      if (ledger === undefined || hold === undefined || !this.isHeldElsewhere(ledger)) return true;
      if (this.#holds.isAbandoned(entry.key, hold)) {
        if (!(await sawPods())) return false;
        this.#holds.end(entry.key, hold);
        return true;
      }
      if (clock.elapsed() >= deadline) return false;
      this.#share(entry);
      if (hold.recalled) await sleep(clock, CLAIM_STEP_MS, signal);
      else {
        try {
          const status = { ...ledger.status, hold: { ...hold, recalled: true } };
          this.#learn(entry, await client.updateStatus(disruptionLedgerType, { ...ledger, status }));
        } catch (error) {
          if (!isConflict(error) && !isNotFound(error)) throw error;
          await this.read(namespace, name);
        }
      }
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
    await Promise.all([...this.#entries.values()].map((entry) => this.#settle(entry)));
  }

  #entry(namespace: string, name: string): Entry {
    const key = `${namespace}/${name}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = newEntry(namespace, name);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #newest({ name, namespace, newest }: Entry): DisruptionLedger | undefined {
    return newest ?? this.#options.ledgers.get({ namespace, name });
  }

  #viewOf(entry: Entry): DisruptionLedger | undefined {
    if (entry.view !== undefined) return entry.view;
    const newest = this.#newest(entry);
    if (newest === undefined) return undefined;
    entry.view = entry.ahead.length === 0 ? newest : this.#withAhead(newest, entry.ahead);
    this.#gotAt.set(entry.view, entry.given);
    return entry.view;
  }

  #withAhead(ledger: DisruptionLedger, ahead: readonly Given[]): DisruptionLedger {
    let status = ledger.status ?? {};
    for (const charge of ahead) {
      // Listed already where a write arrived whose answer did not.
      if (status.disruptedPods?.[charge.pod] === formatTime(charge.now)) continue;
      status = chargedLedger(status, charge, this.#options.index);
    }
    return { ...ledger, status };
  }

  /** Takes in a version that was written or read here, which the watch may show later. */
  #learn(entry: Entry, ledger: DisruptionLedger): void {
    const known = this.#newest(entry);
    if (known !== undefined && isAsNewAs(versionOf(known), versionOf(ledger))) return;
    entry.newest = ledger;
    entry.view = undefined;
    this.#holds.note(entry.key, ledger.status?.hold);
  }

  #shown(ledger: DisruptionLedger): void {
    const key = keyOf(ledger);
    const entry = this.#entries.get(key);
    if (entry?.newest !== undefined && !isAsNewAs(versionOf(ledger), versionOf(entry.newest))) return;
    this.#holds.note(key, ledger.status?.hold);
    if (entry === undefined) return;
    entry.newest = undefined;
    entry.view = undefined;
    if (this.#mustLetGo(entry)) void this.#settle(entry);
  }

  #forget(key: string): void {
    this.#entries.delete(key);
    this.#holds.forget(key);
  }

  #isHeld(entry: Entry): boolean {
    const hold = this.#newest(entry)?.status?.hold;
    if (hold?.holder !== this.#options.identity || hold.recalled || this.#closing) return false;
    return entry.heldSince !== undefined && isInTime(entry.heldSince, this.#options.clock);
  }

  #mustLetGo(entry: Entry): boolean {
    const hold = this.#newest(entry)?.status?.hold;
    return hold?.holder === this.#options.identity && (hold.recalled === true || this.#closing);
  }

  #share(entry: Entry): void {
    entry.sharedUntilMs = this.#options.clock.elapsed() + SHARED_MS;
  }

  #inTurn<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    const done = entry.turn.then(work);
    entry.turn = done.catch(() => {});
    return done;
  }

  async #put(
    entry: Entry,
    ledger: DisruptionLedger,
    status: DisruptionLedgerStatus,
    grants: boolean,
  ): Promise<DisruptionLedger> {
    const { client, clock, identity } = this.#options;
    const known = this.#newest(entry);
    const { given } = entry;
    if ((this.#gotAt.get(ledger) ?? 0) !== given) throw conflict(ledger, 'more was granted since it was read');
    if (known !== undefined && versionOf(known) !== versionOf(ledger) && isAsNewAs(versionOf(known), versionOf(ledger)))
      throw conflict(ledger, 'it was written since it was read');
    const hold = this.#holdToWrite(entry, known ?? ledger, grants);
    const { hold: _, ...rest } = status;
    const isOurs = hold?.holder === identity;
    // From here on nothing is given ahead that this write does not list.
    if (!isOurs) entry.heldSince = undefined;
    const sent = momentOf(clock);
    let written: DisruptionLedger;
    try {
      written = await client.updateStatus(disruptionLedgerType, { ...ledger, status: hold ? { ...rest, hold } : rest });
    } catch (error) {
      if (isNotFound(error)) this.#forget(entry.key);
      throw error;
    }
    entry.ahead = entry.ahead.filter(({ number }) => number > given);
    entry.view = undefined;
    this.#learn(entry, written);
    // A definition of an earlier version does not keep it.
    if (isOurs) entry.heldSince = written.status?.hold?.stamp === hold.stamp ? sent : undefined;
    return this.#viewOf(entry) ?? written;
  }

  #holdToWrite(entry: Entry, known: DisruptionLedger, grants: boolean): LedgerHold | undefined {
    const { clock, identity } = this.#options;
    const current = known.status?.hold;
    if (current !== undefined && current.holder !== identity) {
      if (!grants) return current;
      if (this.isHeldElsewhere(known)) throw conflict(known, `${current.holder} holds it`);
    }
    if (this.#mustLetGo(entry)) this.#share(entry);
    if (this.#closing || clock.elapsed() < entry.sharedUntilMs || (!grants && !this.#isHeld(entry))) return undefined;
    this.#stamps += 1;
    return { holder: identity, stamp: String(this.#stamps) };
  }

  #listSoon(entry: Entry): void {
    if (entry.isListing) return;
    entry.isListing = true;
    this.#options.clock.after(LIST_MS, () => {
      entry.isListing = false;
      void this.#settle(entry);
    });
  }

  /** Writes until everything given is listed, and nothing is held that another replica wants. */
  #settle(entry: Entry): Promise<void> {
    entry.settling ??= this.#settleNow(entry).finally(() => {
      entry.settling = undefined;
      // What came after the last look, and before this.
      if (this.#isUnsettled(entry)) void this.#settle(entry);
    });
    return entry.settling;
  }

  #isUnsettled(entry: Entry): boolean {
    if (this.#options.signal?.aborted || this.#entries.get(entry.key) !== entry) return false;
    return entry.ahead.length > 0 || this.#mustLetGo(entry);
  }

  async #settleNow(entry: Entry): Promise<void> {
    const { clock } = this.#options;
    for (let failures = 0; this.#isUnsettled(entry); ) {
      try {
        await this.#inTurn(entry, async () => {
          const view = this.#viewOf(entry);
          if (view !== undefined && this.#isUnsettled(entry)) await this.#put(entry, view, view.status ?? {}, false);
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
    const ledgers = [...this.#entries.values()].filter((entry) => this.#isUnsettled(entry)).map(({ key }) => key);
    const fields = { ledgers: ledgers.length, one: ledgers[0], error: String(error) };
    log.warn(fields, 'what was granted is not written to the ledgers yet; trying again');
  }
}

/**
 * With the count that the controller would arrive at once it sees the charge: a ledger that says it all already is not
 * written a second time.
 */
function chargedLedger(status: DisruptionLedgerStatus, charge: Charge, index: DisruptionIndex): DisruptionLedgerStatus {
  const currentHealthy = Math.max(0, (status.currentHealthy ?? 0) - charge.cost);
  return { ...status, ...chargedStatus(status, charge, index), currentHealthy };
}

function conflict({ metadata }: DisruptionLedger, why: string): ApiError {
  const message = `Cannot write ledger ${metadata.namespace}/${metadata.name}: ${why}`;
  return new ApiError(409, { kind: 'Status', code: 409, reason: 'Conflict', message });
}

const keyOf = ({ metadata }: DisruptionLedger): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
const versionOf = ({ metadata }: DisruptionLedger): string => metadata.resourceVersion ?? '';
