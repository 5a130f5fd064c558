/** What evictions were answered, and which of it they must not be. */
import { ApiError } from '../../src/machinery/runtime/index.ts';

const TENTHS = 10;
/** On these `kubectl drain` gives up, and nothing here gives the API server a reason of its own for them. */
const FORBIDDEN: ReadonlySet<number> = new Set([0, 403, 408, 500]);
/** How connections end that nobody answers. Whatever else the API server says of a webhook, a replica has said. */
const UNREACHED =
  /EOF|connection refused|connection reset|deadline exceeded|Client\.Timeout|broken pipe|closed network connection|server sent GOAWAY/;
/** A replica, or the machine, was too slow to answer. */
const LATE = /deadline exceeded|Client\.Timeout/;
/** Requests that were under way to a killed replica have ended by then: API servers wait ten seconds for an answer. */
const KILL_SHOWS_MS = 15_000;

export class Answers {
  /** By code; what the API server says because it reached no replica stands apart. */
  readonly counts: Record<string, number> = {};
  /** Granted in each tenth of the time. */
  readonly granted = Array.from({ length: TENTHS }, () => 0);
  readonly forbidden: string[] = [];
  readonly #beginsAt = Date.now();
  readonly #lastsMs: number;
  #killedAt = 0;

  constructor(lastsMs: number) {
    this.#lastsMs = lastsMs;
  }

  /** From now on requests may be under way to a replica that is no more. */
  replicaKilled(): void {
    this.#killedAt = Date.now();
  }

  /** Since the beginning. */
  seconds(): number {
    return Math.round((Date.now() - this.#beginsAt) / 100) / 10;
  }

  noteGrant(): void {
    this.#count('201');
    const tenth = Math.floor((TENTHS * (Date.now() - this.#beginsAt)) / this.#lastsMs);
    const at = Math.min(TENTHS - 1, tenth);
    this.granted[at] = (this.granted[at] ?? 0) + 1;
  }

  noteFailure(error: unknown): void {
    const { code, message } = error instanceof ApiError ? error : { code: 0, message: String(error) };
    const reachedNobody = code === 500 ? whyUnreached(message) : undefined;
    if (reachedNobody !== undefined && this.#isExcused(reachedNobody)) {
      this.#count(`500 (no replica reached: ${reachedNobody})`);
      return;
    }
    this.#count(String(code));
    if (FORBIDDEN.has(code)) this.forbidden.push(`${code} after ${this.seconds()} s: ${message}`);
  }

  /** A connection ends without an answer only where a replica is killed: one that is rolled over answers first. */
  #isExcused(reason: string): boolean {
    return LATE.test(reason) || Date.now() - this.#killedAt < KILL_SHOWS_MS;
  }

  #count(answer: string): void {
    this.counts[answer] = (this.counts[answer] ?? 0) + 1;
  }
}

/** What the API server says by itself when it asks a webhook and gets no answer. */
function whyUnreached(message: string): string | undefined {
  return message.includes('failed calling webhook') ? UNREACHED.exec(message)?.[0] : undefined;
}
