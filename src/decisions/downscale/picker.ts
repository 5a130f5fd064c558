/** What to ask an application's pod picker, and what its answer is worth. Nothing here makes a call. */
import { isPodReady } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { Ranks } from './rank.ts';

export interface PickerQuestion {
  readonly count: number;
  /** Names in ascending order. */
  readonly candidates: readonly string[];
}

export type PickerPlan =
  | { readonly ask: false; readonly reason: 'AllPodsGo' | 'EnoughNonCandidates' }
  | { readonly ask: true; readonly reason: 'CandidatesMustGo'; readonly question: PickerQuestion };

/** A pod the application can be asked about: placed, running and Ready. All others go before it anyway. */
export function isPickerCandidate(pod: Pod): boolean {
  return Boolean(pod.spec?.nodeName) && pod.status?.phase === 'Running' && isPodReady(pod);
}

/**
 * Decides whether the picker has a say.
 *
 * Rules, first match wins:
 *  1. every pod goes: nothing to pick
 *  2. the pods that are no candidates are enough: they go first, nothing to pick
 *  3. otherwise ask for what is missing beyond them
 */
export function planPickerCall(pods: readonly Pod[], count: number): PickerPlan {
  if (count >= pods.length) return { ask: false, reason: 'AllPodsGo' };
  const candidates = pods.filter(isPickerCandidate);
  const missing = count - (pods.length - candidates.length);
  if (missing <= 0) return { ask: false, reason: 'EnoughNonCandidates' };
  const names = candidates.map(({ metadata }) => metadata.name ?? '').sort();
  return { ask: true, reason: 'CandidatesMustGo', question: { count: missing, candidates: names } };
}

export interface PickerAnswer {
  readonly chosen: readonly string[];
  readonly tied: readonly string[];
}

export type PickerReading =
  /** Both lists empty: the application has no opinion, and colocation decides as without a picker. */
  | { readonly reason: 'NoOpinion'; readonly ignoredNames: 0 }
  /** `NothingUsable`: it named only pods that were not asked about, so nothing tells the candidates apart. */
  | { readonly reason: 'Ranked' | 'NothingUsable'; readonly ranks: Ranks; readonly ignoredNames: number };

const CHOSEN = 0;
const TIED = 1;
const OTHERS = 3;

/** Turns an answer into ranks. Names that were not asked about are ignored and counted; chosen beats tied. */
export function readPickerAnswer({ candidates }: PickerQuestion, { chosen, tied }: PickerAnswer): PickerReading {
  if (chosen.length === 0 && tied.length === 0) return { reason: 'NoOpinion', ignoredNames: 0 };
  const asked = new Set(candidates);
  const ignored = new Set([...chosen, ...tied].filter((name) => !asked.has(name)));
  const perName = new Map<string, number>();
  for (const name of tied) if (asked.has(name)) perName.set(name, TIED);
  for (const name of chosen) if (asked.has(name)) perName.set(name, CHOSEN);
  const ranks: Ranks = { by: 'PickerRank', perName, others: OTHERS };
  return { reason: perName.size === 0 ? 'NothingUsable' : 'Ranked', ranks, ignoredNames: ignored.size };
}
