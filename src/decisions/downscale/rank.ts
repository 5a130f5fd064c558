import type { Pod } from '../../api/generated/core-v1.ts';
import { PodFacts } from './pod-facts.ts';
import { downscaleRules, type Rule, type RuleName } from './rules.ts';

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
export function chooseVictims({ pods, count, ranks, now, deletionCost = true }: DownscaleQuestion): Victim[] {
  if (count <= 0) return [];
  if (count >= pods.length) return pods.map((pod) => ({ pod, reason: 'AllPods' }));
  const rules = downscaleRules({ rankedBy: ranks.by === 'Colocation' ? 'Colocation' : 'PickerRank', deletionCost });
  const rankOf = rankReader(ranks);
  const order = sortByRules(
    pods.map((pod) => new PodFacts(pod, rankOf(pod), now)),
    rules,
  );
  const firstKept = order[count] as PodFacts;
  return order.slice(0, count).map((facts) => ({
    pod: facts.pod,
    reason: separatingRule(rules, facts, firstKept)?.name ?? 'Name',
  }));
}

/** The first rule that tells two pods apart; undefined when none does. */
export function separatingRule(rules: readonly Rule[], a: PodFacts, b: PodFacts): Rule | undefined {
  return rules.find((rule) => rule.compare(a, b) !== 0);
}

/**
 * Rules 6 to 8 are not transitive as a whole, so what a sort makes of them depends on where it starts: names give
 * every input the same start, and the sort is stable.
 */
function sortByRules(facts: PodFacts[], rules: readonly Rule[]): PodFacts[] {
  return refine(
    facts.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
    rules,
  );
}

/** Splits by one numbered rule after the other, and sorts only what all of them leave together. */
function refine(group: PodFacts[], rules: readonly Rule[]): PodFacts[] {
  const [rule, ...rest] = rules;
  if (rule === undefined || group.length < 2) return group;
  const { key } = rule;
  if (key === undefined) return group.sort(compareBy(rules));
  const buckets = new Map<number, PodFacts[]>();
  for (const facts of group) {
    const bucket = buckets.get(key(facts));
    if (bucket === undefined) buckets.set(key(facts), [facts]);
    else bucket.push(facts);
  }
  if (buckets.size === 1) return refine(group, rest);
  return [...buckets.keys()].sort((a, b) => a - b).flatMap((at) => refine(buckets.get(at) as PodFacts[], rest));
}

function compareBy(rules: readonly Rule[]): Rule['compare'] {
  return (a, b) => {
    for (let at = 0; at < rules.length; at += 1) {
      const difference = (rules[at] as Rule).compare(a, b);
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
