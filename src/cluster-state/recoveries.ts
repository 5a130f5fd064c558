import { disruptionHistoryType } from '../api/quorate/disruption-history.ts';
import { askHistory, Recoveries } from '../decisions/history/index.ts';
import { type Client, type Clock, isForbidden, isNotFound, listAll } from '../machinery/runtime/index.ts';

/** What groups took last week says as much as what they took a minute ago. */
const FRESH_MS = 10 * 60_000;

/** What the record says of how long groups take to come back. Read now and then; where it may not be read, it says nothing. */
export class RecoveryReader {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly at: number; readonly recoveries: Recoveries }>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async in(namespace: string): Promise<Recoveries> {
    const now = this.#clock.now();
    for (const [name, { at }] of this.#known) if (now - at >= FRESH_MS) this.#known.delete(name);
    const known = this.#known.get(namespace);
    if (known !== undefined) return known.recoveries;
    const recoveries = new Recoveries(await this.#entriesIn(namespace));
    this.#known.set(namespace, { at: now, recoveries });
    return recoveries;
  }

  async #entriesIn(namespace: string) {
    try {
      return askHistory(await listAll(this.#client, disruptionHistoryType, namespace), {}).entries;
    } catch (error) {
      if (isNotFound(error) || isForbidden(error)) return [];
      throw error;
    }
  }
}
