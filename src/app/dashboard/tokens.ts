/** Tokens of the people who look at a dashboard on a cluster: kept in this process's memory and nowhere else. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../machinery/runtime/index.ts';
import { hold } from './hold.ts';

export interface TokenHolder {
  readonly token: string;
  /** Whom the API server takes the bearer for. */
  readonly user: string;
  /** Where they may read when they may not list namespaces. */
  readonly namespace: string;
}

/** As long as a session lasts at the longest. */
const KEEP_MS = 12 * 60 * 60_000;
const MAX_TOKENS = 256;

export class Tokens {
  readonly #clock: Clock;
  readonly #held = new Map<string, TokenHolder & { readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the name by which sessions know the holder; whoever shows the same token again is the same. */
  keep(holder: TokenHolder): string {
    const id = createHash('sha256').update(`${holder.namespace}\n${holder.token}`).digest('base64url');
    this.#held.delete(id);
    hold(this.#held, id, { ...holder, untilMs: this.#clock.elapsed() + KEEP_MS }, MAX_TOKENS);
    return id;
  }

  find(id: string): TokenHolder | undefined {
    const held = this.#held.get(id);
    if (held === undefined || held.untilMs > this.#clock.elapsed()) return held;
    this.#held.delete(id);
    return undefined;
  }

  forget(id: string): void {
    this.#held.delete(id);
  }
}
