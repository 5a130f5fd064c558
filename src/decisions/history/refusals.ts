import type { HistoryEntry } from '../../api/quorate/disruption-history.ts';
import { formatMicroTime, parseTime } from '../../machinery/values/index.ts';
import type { GivenAnswer } from './answers.ts';

/** The same refusal within this time is one entry. */
const SAME_MS = 10 * 60_000;
/** Refusals that may still be repeated; of more, the oldest are repeated as new ones. */
const LIMIT = 5000;

/** Enters refusals: the same one (who, group, reason) again is a repeat. */
export class RefusalBook {
  readonly #recent = new Map<string, HistoryEntry>();
  readonly #id: (at: number) => string;

  constructor(id: (at: number) => string) {
    this.#id = id;
  }

  enter(answer: GivenAnswer, group: string): { readonly entry: HistoryEntry; readonly isNew: boolean } {
    const { at, kind, namespace, pod, refusal, userAgent, who } = answer;
    const reason = refusal?.reason ?? 'Unknown';
    const key = refusalKey({ who, group, reason });
    const known = this.#recent.get(key);
    this.#recent.delete(key);
    if (known !== undefined && at - (parseTime(known.at) ?? 0) <= SAME_MS) {
      known.repeats = (known.repeats ?? 1) + 1;
      known.lastAt = formatMicroTime(at);
      if (refusal !== undefined) known.message = refusal.message;
      this.#recent.set(key, known);
      return { entry: known, isNew: false };
    }
    const entry: HistoryEntry = {
      id: this.#id(at),
      at: formatMicroTime(at),
      outcome: 'Refused',
      way: kind,
      voluntary: true,
      who,
      ...(userAgent !== undefined && { userAgent }),
      namespace,
      group,
      pods: pod === undefined ? [] : [{ name: pod.name, uid: pod.uid }],
      podsTotal: pod === undefined ? 0 : 1,
      ...(refusal && refusal.budgets.length > 0 && { budgets: [...refusal.budgets] }),
      ...(refusal && refusal.policies.length > 0 && { policies: [...refusal.policies] }),
      reason,
      ...(refusal && { message: refusal.message }),
      repeats: 1,
      lastAt: formatMicroTime(at),
    };
    this.#recent.set(key, entry);
    if (this.#recent.size > LIMIT) this.#recent.delete(this.#recent.keys().next().value as string);
    return { entry, isNew: true };
  }
}

const refusalKey = ({ group, reason, who }: Pick<HistoryEntry, 'group' | 'reason' | 'who'>): string =>
  JSON.stringify([who, group, reason]);

/**
 * Refusals as one replica would have entered them: each replica enters its own, and whoever reads wants one of those that
 * are the same within ten minutes.
 */
export function mergeRefusals(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const merged: HistoryEntry[] = [];
  const recent = new Map<string, number>();
  for (const entry of entries) {
    if (entry.outcome !== 'Refused') {
      merged.push(entry);
      continue;
    }
    const key = refusalKey(entry);
    const at = recent.get(key);
    const known = at === undefined ? undefined : merged[at];
    if (at !== undefined && known !== undefined && (parseTime(entry.at) ?? 0) - (parseTime(known.at) ?? 0) <= SAME_MS) {
      const lastAt = [known.lastAt ?? known.at, entry.lastAt ?? entry.at].sort().at(-1);
      merged[at] = { ...known, repeats: (known.repeats ?? 1) + (entry.repeats ?? 1), lastAt };
      continue;
    }
    recent.set(key, merged.length);
    merged.push(entry);
  }
  return merged;
}
