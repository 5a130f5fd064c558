import type { LedgerHold } from '../api/quorate/types.ts';
import type { Clock } from '../machinery/runtime/index.ts';

/** How long after its last write a holder may grant without writing first, by its own clock. */
export const HOLD_MS = 15_000;
/** As long as an API server goes on with a request that it was granted: its --request-timeout. */
const EXECUTION_MS = 60_000;
/** A hold that was seen unchanged for so long binds nobody: whatever was granted under it shows in the pods by now. */
export const ABANDONED_MS = HOLD_MS + EXECUTION_MS;

/** A moment by both clocks of this machine. */
export interface Moment {
  readonly nowMs: number;
  readonly elapsedMs: number;
}

export const momentOf = (clock: Clock): Moment => ({ nowMs: clock.now(), elapsedMs: clock.elapsed() });

/**
 * Whether a hold that counts from this moment may still be gone by. One clock may have been set back, the other may have
 * stood still while the machine slept: the hold is over when either says so.
 */
export function isInTime(since: Moment, clock: Clock): boolean {
  return Math.max(clock.now() - since.nowMs, clock.elapsed() - since.elapsedMs) < HOLD_MS;
}

interface Sighting {
  readonly stamp: string;
  /**
   * Since when it is known to be silent, of elapsed time: a clock that is set must not make a hold look abandoned. Before
   * it was first seen here, where others have written how long they saw it silent.
   */
  atMs: number;
  /** It binds nobody here any longer. */
  over: boolean;
}

/**
 * Holds of other replicas, with the moment each was first seen here. As in a leader election nobody's clock is compared
 * with another's: a holder counts from before it wrote, everybody else from after.
 */
export class SeenHolds {
  readonly #clock: Clock;
  readonly #sightings = new Map<string, Sighting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(key: string, hold: LedgerHold | undefined): void {
    if (hold === undefined) {
      this.#sightings.delete(key);
      return;
    }
    const sinceMs = this.#clock.elapsed() - (hold.silentSeconds ?? 0) * 1000;
    const known = this.#of(key, hold);
    if (known === undefined) this.#sightings.set(key, { stamp: stampOf(hold), atMs: sinceMs, over: false });
    else known.atMs = Math.min(known.atMs, sinceMs);
  }

  forget(key: string): void {
    this.#sightings.delete(key);
  }

  isAbandoned(key: string, hold: LedgerHold): boolean {
    return this.silentMs(key, hold) >= ABANDONED_MS;
  }

  /** For how long at least its holder has not written. */
  silentMs(key: string, hold: LedgerHold): number {
    const sighting = this.#of(key, hold);
    return sighting === undefined ? 0 : this.#clock.elapsed() - sighting.atMs;
  }

  /** To be called for an abandoned hold once the pods of now have been seen. */
  end(key: string, hold: LedgerHold): void {
    const sighting = this.#of(key, hold);
    if (sighting !== undefined) sighting.over = true;
  }

  isOver(key: string, hold: LedgerHold): boolean {
    return this.#of(key, hold)?.over === true;
  }

  #of(key: string, hold: LedgerHold): Sighting | undefined {
    const sighting = this.#sightings.get(key);
    return sighting?.stamp === stampOf(hold) ? sighting : undefined;
  }
}

/** The hold with how long its holder was seen silent; undefined where as much is said already. */
export function withSilence(hold: LedgerHold, silentMs: number): LedgerHold | undefined {
  const silentSeconds = Math.floor(silentMs / 1000);
  return silentSeconds <= (hold.silentSeconds ?? 0) ? undefined : { ...hold, silentSeconds };
}

const stampOf = ({ holder, stamp }: LedgerHold): string => `${holder}/${stamp}`;
