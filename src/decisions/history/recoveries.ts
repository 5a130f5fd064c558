import type { HistoryEntry } from '../../api/quorate/disruption-history.ts';

/** So many of the last recoveries say how long the next one takes. */
const LAST = 5;

/** How long groups take to be whole again, by what the record says of them. */
export class Recoveries {
  readonly #byGroup = new Map<string, number[]>();
  readonly #byOwner = new Map<string, number[]>();
  readonly #byNamespace = new Map<string, number[]>();

  /** Entries, the oldest first. */
  constructor(entries: readonly HistoryEntry[]) {
    for (const { during, end, group, groupSeconds = 0, namespace, owner, wholeAt } of entries) {
      if (end !== 'Whole' || wholeAt === undefined || during !== undefined || groupSeconds <= 0) continue;
      keep(this.#byGroup, group, groupSeconds);
      if (owner !== undefined) keep(this.#byOwner, `${namespace}/${owner}`, groupSeconds);
      keep(this.#byNamespace, namespace, groupSeconds);
    }
  }

  /** The median of the group's last five recoveries in seconds, else of its owner's, else of its namespace's. */
  median({ group, namespace, owner }: { group: string; namespace: string; owner?: string | undefined }) {
    const found =
      this.#byGroup.get(group) ??
      (owner === undefined ? undefined : this.#byOwner.get(`${namespace}/${owner}`)) ??
      this.#byNamespace.get(namespace);
    return found === undefined ? undefined : medianOf(found);
  }
}

function keep(all: Map<string, number[]>, key: string, seconds: number): void {
  const known = all.get(key) ?? [];
  known.push(seconds);
  if (known.length > LAST) known.shift();
  all.set(key, known);
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
