import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import { deepEqual, formatTime } from '../../machinery/values/index.ts';
import type { PrunedLedger } from './ledger.ts';
import { computeNumbers } from './numbers.ts';
import type { BudgetTally } from './tally.ts';

/** How long no group may reach its threshold before the threshold counts as impossible. */
export const THRESHOLD_PATIENCE_MS = 300_000;

/** How many a budget expects, and whether anyone declared it. */
export interface Expected {
  readonly count: number;
  /** False: nobody declares the number, so what is seen stands in for it. */
  readonly declared: boolean;
}

export interface StatusQuestion {
  readonly budget: PodUnavailableBudget;
  readonly tally: BudgetTally;
  readonly ledger: PrunedLedger;
  readonly expected: Expected;
  /** Since when no group has had as many active pods as it needs; undefined while one has. */
  readonly shortSinceMs: number | undefined;
  readonly nowMs: number;
  /** How new the pods in the tally are, for those who decide with pods of their own. */
  readonly podsResourceVersion?: string | undefined;
}

type ConditionType =
  | 'ExpectedCountUnknown'
  | 'GroupLabelMissing'
  | 'MinReadyReplicasImpossible'
  | 'ExpectedGroupCountUnknown';

interface Finding {
  readonly type: ConditionType;
  readonly reason: string;
  readonly message: string;
}

const NAMES_SHOWN = 5;
const GROUPS_SHOWN = 10;

/** The whole status of a budget. `observedGeneration` says that it answers the present spec. */
export function computeStatus(question: StatusQuestion): PodUnavailableBudgetStatus {
  const { budget, expected, ledger, podsResourceVersion, tally } = question;
  const spec = budget.spec ?? {};
  const grouped = spec.podGroupPolicy !== undefined;
  const available = grouped ? tally.availableGroups : tally.availablePods;
  const numbers = computeNumbers(spec, { expected: expected.count, available });
  const conditions = computeConditions(question);
  return {
    observedGeneration: budget.metadata.generation,
    ...(Object.keys(ledger.disruptedPods).length > 0 ? { disruptedPods: ledger.disruptedPods } : {}),
    ...(Object.keys(ledger.unavailablePods).length > 0 ? { unavailablePods: ledger.unavailablePods } : {}),
    unavailableAllowed: numbers.allowed,
    currentAvailable: numbers.available,
    desiredAvailable: numbers.desired,
    totalReplicas: numbers.total,
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(grouped
      ? {
          groupStatus: {
            unavailableGroups: Math.max(0, expected.count - tally.availableGroups),
            ungroupedPods: tally.ungrouped,
            ungroupedAvailable: tally.ungroupedAvailable,
            unavailableGroupNames: tally.unavailableGroupNames(GROUPS_SHOWN),
            ...(podsResourceVersion === undefined ? {} : { podsResourceVersion }),
          },
        }
      : {}),
  };
}

/** True while every labelled pod is judged by itself, because no group can reach the threshold. */
export function isThresholdImpossible({
  budget,
  tally,
  shortSinceMs,
  nowMs,
}: Omit<StatusQuestion, 'ledger' | 'expected'>): boolean {
  if (budget.spec?.podGroupPolicy === undefined || shortSinceMs === undefined) return false;
  if (tally.groups().some(({ size }) => size !== undefined)) return false;
  return nowMs - shortSinceMs >= THRESHOLD_PATIENCE_MS;
}

/** True when no group has as many active pods as the policy asks for, and none declares its size. */
export function isThresholdUnreached({ budget, tally }: Pick<StatusQuestion, 'budget' | 'tally'>): boolean {
  const needed = budget.spec?.podGroupPolicy?.minReadyReplicas ?? 1;
  const groups = tally.groups();
  return groups.length > 0 && groups.every(({ active, size }) => size === undefined && active < needed);
}

function computeConditions(question: StatusQuestion): Condition[] {
  const { budget, nowMs } = question;
  const findings = new Map(findAll(question).map((finding) => [finding.type, finding]));
  const types: ConditionType[] =
    budget.spec?.podGroupPolicy === undefined
      ? findings.has('ExpectedCountUnknown') ||
        budget.status?.conditions?.some(({ type }) => type === 'ExpectedCountUnknown')
        ? ['ExpectedCountUnknown']
        : []
      : ['GroupLabelMissing', 'MinReadyReplicasImpossible', 'ExpectedGroupCountUnknown'];
  return types.map((type) => {
    const found = findings.get(type);
    const status = found === undefined ? 'False' : 'True';
    const old = budget.status?.conditions?.find((candidate) => candidate.type === type);
    return {
      type,
      status,
      reason: found?.reason ?? 'AsExpected',
      message: found?.message ?? '',
      lastTransitionTime: old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(nowMs),
    };
  });
}

function findAll(question: StatusQuestion): Finding[] {
  const { budget, expected, tally } = question;
  const policy = budget.spec?.podGroupPolicy;
  const findings: Finding[] = [];
  if (policy === undefined) {
    if (!expected.declared) {
      const message =
        'Some owners of the covered pods have no scale subresource; their pods are counted as they are seen';
      findings.push({ type: 'ExpectedCountUnknown', reason: 'NoScaleSource', message });
    }
    return findings;
  }
  const loose = [...tally.pods.values()]
    .filter(({ active, group }) => active && group === undefined)
    .map(({ name }) => name);
  if (loose.length > 0) {
    const message = `${loose.length} pods carry no label ${policy.groupLabelKey}: ${someOf(loose)}`;
    findings.push({ type: 'GroupLabelMissing', reason: 'PodsWithoutGroupLabel', message });
  }
  const needed = policy.minReadyReplicas ?? 1;
  const oversized = tally.groups().filter(({ size }) => size !== undefined && needed > size);
  if (oversized.length > 0) {
    const message = `minReadyReplicas ${needed} exceeds the declared size of ${oversized.length} groups: ${someOf(oversized.map(({ identity }) => identity))}`;
    findings.push({ type: 'MinReadyReplicasImpossible', reason: 'ExceedsDeclaredGroupSize', message });
  } else if (isThresholdImpossible(question)) {
    const message = `No group has had ${needed} pods for ${THRESHOLD_PATIENCE_MS / 1000} s; pods are guarded one by one until one has`;
    findings.push({ type: 'MinReadyReplicasImpossible', reason: 'NoGroupReachesThreshold', message });
  }
  if (!expected.declared) {
    const message = 'Nobody declares how many groups there are; those that are seen are counted';
    findings.push({ type: 'ExpectedGroupCountUnknown', reason: 'NoScaleSource', message });
  }
  return findings;
}

function someOf(names: readonly string[]): string {
  return [...names].sort().slice(0, NAMES_SHOWN).join(', ');
}

/** True when writing the new status would change nothing a reader sees. Newer pods that change no number are no news. */
export function isSameStatus(a: PodUnavailableBudgetStatus | undefined, b: PodUnavailableBudgetStatus): boolean {
  return deepEqual(withoutVersion(a ?? {}), withoutVersion(b));
}

function withoutVersion({ groupStatus, ...rest }: PodUnavailableBudgetStatus): PodUnavailableBudgetStatus {
  if (groupStatus === undefined) return rest;
  const { podsResourceVersion: _, ...numbers } = groupStatus;
  return { ...rest, groupStatus: numbers };
}

/** Conditions that turned True with the new status; each deserves an event. */
export function raisedConditions(
  old: PodUnavailableBudgetStatus | undefined,
  status: PodUnavailableBudgetStatus,
): Condition[] {
  const wasTrue = new Set(
    (old?.conditions ?? []).filter(({ status: value }) => value === 'True').map(({ type }) => type),
  );
  return (status.conditions ?? []).filter(({ type, status: value }) => value === 'True' && !wasTrue.has(type));
}
