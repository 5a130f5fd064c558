import { type ApiError, tooManyRequests } from '../exchange/status.ts';
import type { HttpLimits } from './limits.ts';

/** Counts the bytes of the bodies that are being received or handled, for all users together and for each. */
export class BodiesInFlight {
  #bytes = 0;
  readonly #byUser = new Map<string, number>();
  readonly #limits: Pick<HttpLimits, 'bodyBytesInFlight' | 'bodyBytesInFlightPerUser'>;

  constructor(limits: Pick<HttpLimits, 'bodyBytesInFlight' | 'bodyBytesInFlightPerUser'>) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts these bytes for the user until they are given back; the refusal when there is no room for them. */
  take(user: string, bytes: number): ApiError | undefined {
    const own = (this.#byUser.get(user) ?? 0) + bytes;
    if (own > this.#limits.bodyBytesInFlightPerUser) {
      return tooManyRequests(
        `too many requests, please try again later: the unfinished request bodies of user "${user}" are over their limit of ${this.#limits.bodyBytesInFlightPerUser} bytes in all`,
        { retryAfterSeconds: 1 },
      );
    }
    if (this.#bytes + bytes > this.#limits.bodyBytesInFlight) {
      return tooManyRequests(
        `too many requests, please try again later: the unfinished request bodies of all users are over their limit of ${this.#limits.bodyBytesInFlight} bytes in all`,
        { retryAfterSeconds: 1 },
      );
    }
    this.#bytes += bytes;
    this.#byUser.set(user, own);
    return undefined;
  }

  give(user: string, bytes: number): void {
    this.#bytes -= bytes;
    const own = (this.#byUser.get(user) ?? 0) - bytes;
    if (own > 0) this.#byUser.set(user, own);
    else this.#byUser.delete(user);
  }
}
