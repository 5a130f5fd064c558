/** The record of disruptions: whom an eviction took is in it once, whoever died meanwhile. */
import type { History } from '../history.ts';
import { evictedIn } from './pods.ts';

interface Part {
  readonly entries?: readonly { readonly outcome: string; readonly pods: readonly { readonly uid: string }[] }[];
  readonly gaps?: readonly { readonly from: string; readonly to: string }[];
}

/** Answers what is wrong with the record; nothing may be under way then. */
export function watchRecord(history: History, now: () => number): () => string[] {
  const evicted = new Map<string, { readonly name: string; readonly at: number }>();
  history.onCommit((commit) => {
    for (const { metadata } of evictedIn(commit)) evicted.set(metadata.uid, { name: metadata.name, at: now() });
  });
  return () => {
    const parts = history.select('disruptionhistories').map(({ spec }) => (spec ?? {}) as Part);
    const gaps = parts.flatMap((part) => part.gaps ?? []);
    const times = new Map<string, number>();
    for (const { outcome, pods } of parts.flatMap(({ entries = [] }) => entries))
      if (outcome !== 'Refused' && outcome !== 'Expired')
        for (const { uid } of pods) times.set(uid, (times.get(uid) ?? 0) + 1);
    return [...evicted].flatMap(([uid, { at, name }]) => {
      const found = times.get(uid) ?? 0;
      const isTold = gaps.some(({ from, to }) => Date.parse(from) <= at && at <= Date.parse(to));
      return found === 1 || (found === 0 && isTold)
        ? []
        : [`${name}, which was evicted, is ${found} times in the record`];
    });
  };
}
