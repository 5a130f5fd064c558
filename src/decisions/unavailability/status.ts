import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import { deepEqual, formatTime } from '../../machinery/values/index.ts';
import { CAPACITY_AVAILABLE } from '../capacity/index.ts';
import { CAPACITY_LOST, setCondition } from '../disruption/index.ts';
import type { PrunedLedger } from './ledger.ts';
import { computeNumbers } from './numbers.ts';
import { asksForRoom } from './room.ts';
import type { UnavailabilityTally } from './tally.ts';

/** How long no group may reach a threshold that one has reached before it counts as impossible. */
export const THRESHOLD_PATIENCE_MS = 300_000;

/** The same where no group has reached it yet: pods that are being made need a moment. */
export const FIRST_PATIENCE_MS = 5_000;

const IMPOSSIBLE = 'MinReadyReplicasImpossible';
const REACHED = 'ThresholdReached';

/** How many a budget expects, and whether anyone declared it. */
export interface Expected {
  readonly count: number;
  /** False: nobody declares the number, so what is seen stands in for it. */
  readonly declared: boolean;
}

export interface UnavailabilityStatusQuestion {
  readonly budget: PodUnavailableBudget;
  readonly tally: UnavailabilityTally;
  readonly ledger: PrunedLedger;
  readonly expected: Expected;
  /** Since when no group has had as many active pods as it needs; undefined while one has. */
  readonly shortSinceMs: number | undefined;
  readonly nowMs: number;
  /** How new the pods in the tally are, for those who decide with pods of their own. */
  readonly podsResourceVersion?: string | undefined;
  /** Whether what the budget guards would find places, as it was last found out. */
  readonly capacity?: Pick<Condition, 'type' | 'status' | 'reason' | 'message'> | undefined;
}

type ConditionType =
  | 'ProtectsNothing'
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
export function computeStatus(question: UnavailabilityStatusQuestion): PodUnavailableBudgetStatus {
  const { budget, expected, ledger, podsResourceVersion, tally } = question;
  const spec = budget.spec ?? {};
  const grouped = spec.podGroupPolicy !== undefined;
  const available = grouped ? tally.availableGroups : tally.availablePods;
  const numbers = computeNumbers(spec, { expected: expected.count, available });
  const conditions = [...computeConditions(question), ...capacityOf(question)];
  return {
    observedGeneration: budget.metadata.generation,
    ...(Object.keys(ledger.disruptedPods).length > 0 ? { disruptedPods: ledger.disruptedPods } : {}),
    ...(Object.keys(ledger.unavailablePods).length > 0 ? { unavailablePods: ledger.unavailablePods } : {}),
    unavailableAllowed: numbers.allowed,
    currentAvailable: numbers.available,
    desiredAvailable: numbers.desired,
    totalReplicas: numbers.total,
    unavailableReplicas: Math.max(0, numbers.total - numbers.available),
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
}: Omit<UnavailabilityStatusQuestion, 'ledger' | 'expected'>): boolean {
  if (budget.spec?.podGroupPolicy === undefined || shortSinceMs === undefined) return false;
  if (!isThresholdUnreached({ budget, tally })) return false;
  return nowMs - shortSinceMs >= thresholdPatienceMs(budget);
}

export function thresholdPatienceMs(budget: PodUnavailableBudget): number {
  return wasThresholdReached(budget) ? THRESHOLD_PATIENCE_MS : FIRST_PATIENCE_MS;
}

/** True when no group is declared to have, or has, as many pods as the policy asks for. */
export function isThresholdUnreached({
  budget,
  tally,
}: Pick<UnavailabilityStatusQuestion, 'budget' | 'tally'>): boolean {
  // An available group has all it needs; most budgets have one, and need no look at every group.
  if (tally.availableGroups > 0) return false;
  const needed = budget.spec?.podGroupPolicy?.minReadyReplicas ?? 1;
  const groups = tally.groups();
  return groups.length > 0 && groups.every(({ active, size }) => (size ?? active) < needed);
}

/**
 * True while labelled pods are guarded one by one: no group has the pods that the policy asks for, and none ever had
 * under this spec. Were such groups taken for unavailable, every eviction would be free while the status looks strict.
 * Groups that had their pods and lost them are unavailable, and what is left of them may go.
 */
export function isThresholdGivenUp(question: Pick<UnavailabilityStatusQuestion, 'budget' | 'tally'>): boolean {
  if (!isThresholdUnreached(question)) return false;
  const { status } = question.budget;
  const said = status?.conditions?.find(({ type }) => type === IMPOSSIBLE)?.status === 'True';
  return said || !wasThresholdReached(question.budget);
}

/** A group had as many pods as the present spec asks for, as the status says. */
function wasThresholdReached({ metadata, status }: PodUnavailableBudget): boolean {
  if ((status?.observedGeneration ?? 0) !== (metadata.generation ?? 0)) return false;
  return status?.conditions?.some(({ reason, type }) => type === IMPOSSIBLE && reason === REACHED) ?? false;
}

/** What was found out about room; what the status says of it stands until something else is found. */
function capacityOf({ budget, capacity, nowMs }: UnavailabilityStatusQuestion): Condition[] {
  if (!asksForRoom(budget)) return [];
  const said = (budget.status?.conditions ?? []).filter(({ type }) => type === CAPACITY_AVAILABLE);
  // Nobody says any more that room is lost.
  if (capacity === undefined) return said.filter(({ reason }) => reason !== CAPACITY_LOST);
  const observedGeneration = budget.metadata.generation ?? 0;
  return setCondition(said, { ...capacity, observedGeneration }, nowMs);
}

function computeConditions(question: UnavailabilityStatusQuestion): Condition[] {
  const { budget, nowMs } = question;
  const findings = new Map(findAll(question).map((finding) => [finding.type, finding]));
  const isKnown = (type: ConditionType): boolean =>
    findings.has(type) || (budget.status?.conditions?.some((old) => old.type === type) ?? false);
  const types: ConditionType[] =
    budget.spec?.podGroupPolicy === undefined
      ? (['ExpectedCountUnknown', 'ProtectsNothing'] as const).filter(isKnown)
      : ['GroupLabelMissing', 'MinReadyReplicasImpossible', 'ExpectedGroupCountUnknown'];
  return types.map((type) => {
    const found = findings.get(type);
    const status = found === undefined ? 'False' : 'True';
    const old = budget.status?.conditions?.find((candidate) => candidate.type === type);
    return {
      type,
      status,
      reason: found?.reason ?? (type === IMPOSSIBLE && isReached(question) ? REACHED : 'AsExpected'),
      message: found?.message ?? '',
      lastTransitionTime: old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(nowMs),
    };
  });
}

function isReached({ budget, tally }: UnavailabilityStatusQuestion): boolean {
  return (tally.groups().length > 0 && !isThresholdUnreached({ budget, tally })) || wasThresholdReached(budget);
}

function findAll(question: UnavailabilityStatusQuestion): Finding[] {
  const { budget, expected, tally } = question;
  const policy = budget.spec?.podGroupPolicy;
  const findings: Finding[] = [];
  if (policy === undefined) {
    if (!expected.declared) {
      const message =
        'Some owners of the covered pods have no scale subresource; their pods are counted as they are seen';
      findings.push({ type: 'ExpectedCountUnknown', reason: 'NoScaleSource', message });
    }
    const active = [...tally.pods.values()].filter((pod) => pod.active);
    const isRelative = budget.spec?.maxUnavailable !== undefined || typeof budget.spec?.minAvailable === 'string';
    if (isRelative && expected.count === 0 && active.length > 0 && budget.spec?.targetRef === undefined) {
      const message = `None of the ${active.length} covered pods has a controller that says how many there should be, so none is expected and all may go; use an integer minAvailable`;
      findings.push({ type: 'ProtectsNothing', reason: 'BarePods', message });
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
    const message = `minReadyReplicas ${needed} exceeds the declared size of ${oversized.length} groups, which can never be available: ${someOf(oversized.map(({ identity }) => identity))}`;
    findings.push({ type: 'MinReadyReplicasImpossible', reason: 'ExceedsDeclaredGroupSize', message });
  } else if (isThresholdImpossible(question)) {
    const message = `No group has had ${needed} pods for ${thresholdPatienceMs(budget) / 1000} s; pods are guarded one by one until one has`;
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
