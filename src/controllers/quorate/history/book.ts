import {
  type DisruptionHistory,
  disruptionHistoryType,
  HISTORY_PART_LABEL,
  type HistoryEntry,
} from '../../../api/quorate/disruption-history.ts';
import { formatKey, type ObjectKey, parseKey } from '../../../api/resource.ts';
import {
  entryBytes,
  hasRoomFor,
  type HistoryBounds,
  historyName,
  type KeptHistory,
  overBounds,
} from '../../../decisions/history/index.ts';
import {
  type Client,
  existing,
  isConflict,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

const PAGE = 50;

export interface BookOptions {
  readonly client: Client;
  readonly writer: string;
  /** Takes entries of namespaces that are gone. */
  readonly home: string;
  readonly bounds: HistoryBounds;
}

/** Keeps entries in DisruptionHistory objects: finds room for new ones, rewrites what changed, drops the oldest days. */
export class HistoryBook {
  readonly #options: BookOptions;
  readonly #kept = new Map<string, KeptHistory>();
  /** Where entries that may still change are written. */
  readonly #places = new Map<string, string>();

  constructor(options: BookOptions) {
    this.#options = options;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    let [entries, bytes] = [0, 0];
    for (const one of this.#kept.values()) [entries, bytes] = [entries + one.entries, bytes + one.bytes];
    return { entries, bytes };
  }

  /** Reads what there is. `each` hears of every entry of this writer. */
  async open(each: (entry: HistoryEntry) => void = () => {}): Promise<void> {
    const { client, writer } = this.#options;
    const kept = new Map<string, KeptHistory>();
    let token: string | undefined;
    do {
      const page = await client.list(disruptionHistoryType, { limit: PAGE, continue: token });
      token = page.metadata.continue || undefined;
      for (const history of page.items) {
        if (history.metadata.labels?.[HISTORY_PART_LABEL] !== undefined) continue;
        const { name = '', namespace = '' } = history.metadata;
        kept.set(formatKey({ namespace, name }), measure(history));
        if (history.spec?.writer !== writer) continue;
        for (const entry of history.spec.entries ?? []) {
          this.#places.set(entry.id, formatKey({ namespace, name }));
          each(entry);
        }
      }
    } while (token !== undefined);
    this.#kept.clear();
    for (const [key, one] of kept) this.#kept.set(key, one);
  }

  /** Forgets where entries are that will not change any more. */
  settle(isKept: (id: string) => boolean): void {
    for (const id of this.#places.keys()) if (!isKept(id)) this.#places.delete(id);
  }

  /** Writes entries, new or changed; gives those that could not be written, which is worth another try. */
  async write(entries: readonly HistoryEntry[]): Promise<HistoryEntry[]> {
    const byObject = new Map<string, HistoryEntry[]>();
    for (const entry of entries) {
      const key = this.#places.get(entry.id) ?? this.#placeFor(entry);
      this.#places.set(entry.id, key);
      byObject.set(key, [...(byObject.get(key) ?? []), entry]);
    }
    const left: HistoryEntry[] = [];
    for (const [key, own] of byObject) if (!(await this.#writeObject(parseKey(key), own))) left.push(...own);
    return left;
  }

  /** Drops the oldest days where there is more than the bounds allow. */
  async trim(now: number): Promise<void> {
    const { bounds, client } = this.#options;
    for (const { name, namespace } of overBounds([...this.#kept.values()], bounds, now)) {
      try {
        await client.delete(disruptionHistoryType, { namespace, name });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      this.#kept.delete(formatKey({ namespace, name }));
    }
  }

  /** The object that takes a new entry: the last of its day in its namespace, or the next one. */
  #placeFor(entry: HistoryEntry): string {
    const { namespace } = entry;
    const at = parseTime(entry.at) ?? 0;
    for (let number = 0; ; number += 1) {
      const name = historyName(at, this.#options.writer, number);
      const key = formatKey({ namespace, name });
      const known = this.#kept.get(key) ?? { namespace, name, bytes: 0, entries: 0 };
      if (!hasRoomFor(entry, known)) continue;
      this.#kept.set(key, { ...known, bytes: known.bytes + entryBytes(entry), entries: known.entries + 1 });
      return key;
    }
  }

  /** False where somebody else wrote it in between. */
  async #writeObject({ name, namespace = '' }: ObjectKey, entries: readonly HistoryEntry[]): Promise<boolean> {
    const { client, home, writer } = this.#options;
    const before = await existing(client.get(disruptionHistoryType, { namespace, name }));
    const all = new Map((before?.spec?.entries ?? []).map((entry) => [entry.id, entry]));
    for (const entry of entries) all.set(entry.id, entry);
    const spec = { ...before?.spec, writer, entries: [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
    try {
      const written =
        before === undefined
          ? await client.create(disruptionHistoryType, { metadata: { namespace, name }, spec })
          : await client.update(disruptionHistoryType, { ...before, spec });
      this.#kept.set(formatKey({ namespace, name }), measure(written));
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      // A namespace that is gone, or takes no more, must not hold up the others.
      const takesNone = isNotFound(error) || isNamespaceTerminating(error) || isForbidden(error);
      if (!takesNone || namespace === home) throw error;
      this.#kept.delete(formatKey({ namespace, name }));
      for (const { id } of entries) this.#places.set(id, formatKey({ namespace: home, name }));
      return this.#writeObject({ namespace: home, name }, entries);
    }
  }
}

function measure({ metadata, spec }: DisruptionHistory): KeptHistory {
  const entries = spec?.entries ?? [];
  const bytes = entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', bytes, entries: entries.length };
}
