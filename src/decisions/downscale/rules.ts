/**
 * The order in which pods go, as a list of named rules; the first rule that separates two pods decides.
 * A negative answer means that `a` goes before `b`. Same meaning as `ActivePodsWithRanks` of Kubernetes v1.36:
 *
 *  1. Unassigned     no node before assigned
 *  2. Phase          Pending (or anything unheard of), Unknown, Running
 *  3. NotReady       not Ready before Ready
 *  4. DeletionCost   lower cost first
 *  5. Colocation     more related pods on its node first
 *  5' PickerRank     instead of 5 when an application picks: lower rank first
 *  6. ReadyTime      shorter Ready first, in bins that double; inside a bin the lower UID
 *  7. Restarts       more restarts first; on a tie more restarts of sidecars
 *  8. CreationTime   younger first, binned as in 6
 *
 * Without bins (feature gate LogarithmicScaleDown off) 6 and 8 are simply younger first.
 */
import type { RankTime, RankedPod } from './pod-facts.ts';

export type RuleName =
  | 'Unassigned'
  | 'Phase'
  | 'NotReady'
  | 'DeletionCost'
  | 'Colocation'
  | 'PickerRank'
  | 'ReadyTime'
  | 'Restarts'
  | 'CreationTime';

export interface RankRule {
  readonly name: RuleName;
  readonly compare: (a: RankedPod, b: RankedPod) => number;
  /** Where the rule is "lower number first": that number, by which pods can be split without comparing them. */
  readonly key?: (facts: RankedPod) => number;
}

const byNumber = (name: RuleName, key: (facts: RankedPod) => number): RankRule => ({
  name,
  key,
  compare: (a, b) => key(a) - key(b),
});

const unassigned = byNumber('Unassigned', ({ assigned }) => assigned);
const phase = byNumber('Phase', ({ phaseOrdinal }) => phaseOrdinal);
const notReady = byNumber('NotReady', ({ ready }) => ready);
const deletionCost = byNumber('DeletionCost', (facts) => facts.deletionCost);
const colocation = byNumber('Colocation', ({ rank }) => -rank);
const pickerRank = byNumber('PickerRank', ({ rank }) => rank);

type CompareAge = (a: RankedPod, b: RankedPod, moments: readonly [RankTime, RankTime]) => number;

const readyTime = (compareAge: CompareAge): RankRule => ({
  name: 'ReadyTime',
  compare: (a, b) =>
    a.ready + b.ready < 2 || a.readyText === b.readyText ? 0 : compareAge(a, b, [a.readySince, b.readySince]),
});

const restarts: RankRule = {
  name: 'Restarts',
  compare: (a, b) => b.restarts - a.restarts || b.sidecarRestarts - a.sidecarRestarts,
};

const creationTime = (compareAge: CompareAge): RankRule => ({
  name: 'CreationTime',
  compare: (a, b) => (a.createdText === b.createdText ? 0 : compareAge(a, b, [a.created, b.created])),
});

const inBins: CompareAge = (a, b, [left, right]) => {
  if (left.at === right.at) return 0;
  if (left.at === undefined) return -1;
  if (right.at === undefined) return 1;
  if (left.bin !== right.bin) return left.bin - right.bin;
  return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0;
};

const youngestFirst: CompareAge = (_a, _b, [left, right]) => {
  if (left.at === right.at) return 0;
  if (left.at === undefined) return -1;
  if (right.at === undefined) return 1;
  return right.at - left.at;
};

export interface RuleChoice {
  readonly rankedBy: 'Colocation' | 'PickerRank';
  /** Feature gate PodDeletionCost. */
  readonly deletionCost: boolean;
  /** Feature gate LogarithmicScaleDown. */
  readonly ageBins: boolean;
}

export function downscaleRules(choice: RuleChoice): readonly RankRule[] {
  const compareAge = choice.ageBins ? inBins : youngestFirst;
  return [
    unassigned,
    phase,
    notReady,
    ...(choice.deletionCost ? [deletionCost] : []),
    choice.rankedBy === 'Colocation' ? colocation : pickerRank,
    readyTime(compareAge),
    restarts,
    creationTime(compareAge),
  ];
}
