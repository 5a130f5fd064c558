import type { Pod } from '../../api/generated/core-v1.ts';
import { RankedPod } from './pod-facts.ts';
import { downscaleRules, type RankRule, type RuleName } from './rules.ts';

/** Where the ranks of rule 5 come from. `Tied` leaves rule 5 without a say. */
export type Ranks =
  | { readonly by: 'Tied' }
  | { readonly by: 'Colocation'; readonly perNode: ReadonlyMap<string, number> }
  | { readonly by: 'PickerRank'; readonly perName: ReadonlyMap<string, number>; readonly others: number };

export interface DownscaleQuestion {
  /** Active pods of one owner. */
  readonly pods: readonly Pod[];
  /** How many must go. */
  readonly count: number;
  readonly ranks: Ranks;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Feature gate PodDeletionCost. Default on. */
  readonly deletionCost?: boolean | undefined;
  /** Feature gate LogarithmicScaleDown. Default on. */
  readonly ageBins?: boolean | undefined;
}

/**
 * Why a pod goes: the rule that puts it before the first pod that stays. `AllPods` when none stays, `Name` when no
 * rule tells the two apart.
 */
export type VictimReason = RuleName | 'AllPods' | 'Name';

export interface Victim {
  readonly pod: Pod;
  readonly reason: VictimReason;
}

/** Picks the pods that go, first to go first, each with the rule that chose it. */
export function chooseVictims(question: DownscaleQuestion): Victim[] {
  const { pods, count, ranks, now, deletionCost = true, ageBins = true } = question;
  if (count <= 0) return [];
  if (count >= pods.length) return pods.map((pod) => ({ pod, reason: 'AllPods' }));
  const rankedBy = ranks.by === 'Colocation' ? 'Colocation' : 'PickerRank';
  const rules = downscaleRules({ rankedBy, deletionCost, ageBins });
  const rankOf = rankReader(ranks);
  const facts = pods.map((pod) => new RankedPod(pod, rankOf(pod), now));
  const order: RankedPod[] = [];
  sortByRules(facts, rules, { order, wanted: count + 1 });
  const firstKept = order[count] as RankedPod;
  return order.slice(0, count).map((goes) => ({
    pod: goes.pod,
    reason: separatingRule(rules, goes, firstKept)?.name ?? 'Name',
  }));
}

/** The first rule that tells two pods apart; undefined when none does. */
export function separatingRule(rules: readonly RankRule[], a: RankedPod, b: RankedPod): RankRule | undefined {
  return rules.find((rule) => rule.compare(a, b) !== 0);
}

/** The order as far as it is known, and how much of it somebody wants to know. */
interface Sorting {
  readonly order: RankedPod[];
  readonly wanted: number;
}

/**
 * Appends a group in order, or as much of it as is wanted: splits by one numbered rule after the other, and sorts only
 * what all of them leave together. Rules 6 to 8 are not transitive as a whole, so what a sort makes of them depends on
 * where it starts: names give every input the same start, and the sort is stable.
 */
function sortByRules(group: RankedPod[], rules: readonly RankRule[], { order, wanted }: Sorting, at = 0): void {
  if (order.length >= wanted) return;
  const key = rules[at]?.key;
  if (group.length < 2 || key === undefined) {
    if (group.length > 1) group.sort(byName).sort(compareBy(rules.slice(at)));
    for (const facts of group) order.push(facts);
    return;
  }
  const first = key(group[0] as RankedPod);
  if (group.every((facts) => key(facts) === first)) {
    sortByRules(group, rules, { order, wanted }, at + 1);
    return;
  }
  const buckets = new Map<number, RankedPod[]>();
  for (const facts of group) {
    const number = key(facts);
    const bucket = buckets.get(number);
    if (bucket === undefined) buckets.set(number, [facts]);
    else bucket.push(facts);
  }
  for (const number of [...buckets.keys()].sort((a, b) => a - b)) {
    sortByRules(buckets.get(number) as RankedPod[], rules, { order, wanted }, at + 1);
  }
}

const byName = (a: RankedPod, b: RankedPod): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function compareBy(rules: readonly RankRule[]): RankRule['compare'] {
  return (a, b) => {
    for (let at = 0; at < rules.length; at += 1) {
      const difference = (rules[at] as RankRule).compare(a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

function rankReader(ranks: Ranks): (pod: Pod) => number {
  switch (ranks.by) {
    case 'Tied':
      return () => 0;
    case 'Colocation':
      return ({ spec }) => ranks.perNode.get(spec?.nodeName ?? '') ?? 0;
    case 'PickerRank':
      return ({ metadata }) => ranks.perName.get(metadata.name ?? '') ?? ranks.others;
  }
}
