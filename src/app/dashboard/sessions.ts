/** Who looks at a dashboard: login codes that work once, and the sessions they turn into. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../machinery/runtime/index.ts';
import { hold } from './hold.ts';

const CODE_MS = 10 * 60_000;
/** Nobody guesses it in that time, and a link with it fits a terminal. */
const CODE_BYTES = 16;
const SESSION_MS = 12 * 60 * 60_000;
/** More of them at a time are nobody's honest use; the oldest go. */
const MAX_CODES = 64;
const MAX_ENDED = 1024;

/** What a session says of itself; it is signed, not secret. */
interface Claim {
  readonly user: string;
  readonly until: number;
  readonly id: string;
}

const newSecret = (): string => randomBytes(32).toString('base64url');
/** Codes are kept as digests: looking one up takes no time that tells how near a guess came. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64');

/**
 * A session is a signed statement of who it is for and until when, so that it outlives a restart of a server that keeps
 * its key. Users are whatever text the door makes of them.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #key: Uint8Array;
  readonly #codes = new Map<string, { readonly user: string; readonly untilMs: number }>();
  /** Sessions that were ended by hand. */
  readonly #ended = new Map<string, true>();

  constructor(clock: Clock, key: Uint8Array = randomBytes(32)) {
    this.#clock = clock;
    this.#key = key;
  }

  /** A code with which a browser can become this user, once and within ten minutes. */
  newCode(user: string): string {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    hold(this.#codes, digest(code), { user, untilMs: this.#clock.elapsed() + CODE_MS }, MAX_CODES);
    return code;
  }

  /** Uses a code up; undefined when it is none, was used or is too old. */
  redeem(code: string): { readonly session: string; readonly maxAgeSeconds: number } | undefined {
    const key = digest(code);
    const held = this.#codes.get(key);
    this.#codes.delete(key);
    if (held === undefined || held.untilMs <= this.#clock.elapsed()) return undefined;
    const claim: Claim = { user: held.user, until: this.#clock.now() + SESSION_MS, id: newSecret() };
    const text = Buffer.from(JSON.stringify(claim), 'utf8').toString('base64url');
    return { session: `${text}.${this.#sign(text)}`, maxAgeSeconds: SESSION_MS / 1000 };
  }

  /** The user of a session; undefined when we did not sign it, it was ended or is too old. */
  find(session: string): string | undefined {
    const claim = this.#read(session);
    return claim === undefined || claim.until <= this.#clock.now() || this.#ended.has(claim.id)
      ? undefined
      : claim.user;
  }

  end(session: string): void {
    const claim = this.#read(session);
    if (claim !== undefined) hold(this.#ended, claim.id, true, MAX_ENDED);
  }

  #read(session: string): Claim | undefined {
    const [text = '', signature = ''] = session.split('.');
    const wanted = Buffer.from(this.#sign(text));
    const given = Buffer.from(signature);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Claim;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
