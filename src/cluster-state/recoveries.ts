import { controllerOf } from '../api/core/owner.ts';
import { disruptionHistoryType } from '../api/quorate/disruption-history.ts';
import type { RecoveryOf } from '../decisions/drain-question/index.ts';
import { askHistory, Recoveries } from '../decisions/history/index.ts';
import { type Client, isForbidden, isNotFound, listAll } from '../machinery/runtime/index.ts';

/** What groups took last week says as much as what they took a minute ago. */
const FRESH_MS = 10 * 60_000;

/** What the record says of how long groups take to come back. Read now and then; where it may not be read, it says nothing. */
export class RecoveryReader {
  readonly #client: Client;
  readonly #known = new Map<string, { readonly at: number; readonly recoveries: Recoveries }>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** What is known of the groups of some namespaces. */
  async read(namespaces: ReadonlySet<string>, now: number): Promise<RecoveryOf> {
    const known = new Map<string, Recoveries>();
    for (const namespace of namespaces) known.set(namespace, await this.#in(namespace, now));
    return (group, pod) => {
      const { namespace = '' } = pod.metadata;
      const owner = controllerOf(pod);
      return known.get(namespace)?.median({ namespace, group, owner: owner && `${owner.kind}/${owner.name}` });
    };
  }

  async #in(namespace: string, now: number): Promise<Recoveries> {
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
