import type { Pod } from '../../api/generated/core-v1.ts';
import {
  OPERATIONS_ANNOTATION,
  type PodUnavailableBudget,
  type PodUnavailableBudgetStatus,
  type ProtectedOperation,
} from '../../api/kruise/types.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { type IndexedBudget, isIgnored } from './budget-index.ts';
import type { FoundRoom } from '../disruption/room.ts';
import { decideUnavailability, type Scope, type UnavailabilityVerdict } from './decide.ts';
import type { LeftoverReason } from './leftovers.ts';
import { isRecorded, type LedgerPod, ledgerSize } from './ledger.ts';
import { computeDesired } from './numbers.ts';
import { protects, type UnavailabilityGates } from './operation.ts';
import { lookForRoom, type RoomLook } from './room.ts';
import { isConsistent, isReady, isUnprotected } from './pod-state.ts';
import { isThresholdGivenUp } from './status.ts';
import type { CoveredPod } from './tally.ts';

export interface JudgeQuestion {
  readonly operation: ProtectedOperation;
  readonly pod: Pod;
  /** Every budget that covers the pod. */
  readonly covering: readonly IndexedBudget[];
  readonly gates: UnavailabilityGates;
  /** Replicas an owner asks for, by uid; undefined when nobody knows. */
  readonly scaleOf: (ownerUid: string) => number | undefined;
  readonly nowMs: number;
  readonly compat?: boolean | undefined;
  /** Whether the pod is what is left of a service; only asked where a budget refuses. */
  readonly leftover?: (() => LeftoverReason | undefined) | undefined;
  /** Asked about evictions once all budgets agree, for those that ask for room; absent: whoever asks looks for it. */
  readonly room?: RoomLook | undefined;
}

export type UnavailabilityGrant = Extract<UnavailabilityVerdict, { allowed: true }>;
export type UnavailabilityRefusal = Extract<UnavailabilityVerdict, { allowed: false }>;

export type UnavailabilityJudgement =
  | {
      readonly allowed: true;
      readonly grants: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityGrant }[];
    }
  | {
      readonly allowed: false;
      readonly refusals: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityRefusal }[];
    };

/**
 * Asks every budget that covers a pod. One refusal refuses, and then nobody is charged; all refusals are told. Room is
 * looked for only where all of them agree.
 */
export function judgeUnavailability(question: JudgeQuestion): UnavailabilityJudgement {
  const counted = question.covering.map((entry) => ({ entry, verdict: judgeOne(question, entry) }));
  const judged = counted.every(({ verdict }) => verdict.allowed)
    ? counted.map(({ entry, verdict }) => ({ entry, verdict: placeOne(question, entry, verdict) }))
    : counted;
  const refusals = judged.flatMap(({ entry, verdict }) => (verdict.allowed ? [] : [{ entry, verdict }]));
  const reason = refusals.length > 0 ? question.leftover?.() : undefined;
  if (reason !== undefined) {
    const verdict: UnavailabilityGrant = { allowed: true, reason, record: false };
    return { allowed: true, grants: question.covering.map((entry) => ({ entry, verdict })) };
  }
  if (refusals.length > 0) return { allowed: false, refusals };
  return {
    allowed: true,
    grants: judged.flatMap(({ entry, verdict }) => (verdict.allowed ? [{ entry, verdict }] : [])),
  };
}

function placeOne(
  { nowMs, operation, pod, room: look }: JudgeQuestion,
  entry: IndexedBudget,
  verdict: UnavailabilityVerdict,
): UnavailabilityVerdict {
  if (operation !== 'EVICT' || look === undefined || !verdict.allowed) return verdict;
  return lookForRoom(entry, pod.metadata.name ?? '', { look, nowMs, verdict });
}

/** The places that the grants of a judgement rest on. */
export function foundRooms(grants: readonly { readonly verdict: UnavailabilityGrant }[]): FoundRoom[] {
  return grants.flatMap(({ verdict }) => verdict.room ?? []);
}

function judgeOne(question: JudgeQuestion, entry: IndexedBudget): UnavailabilityVerdict {
  const { compat, gates, operation, pod } = question;
  const { budget, tally } = entry;
  const name = pod.metadata.name ?? '';
  const covered = tally.pods.get(name);
  const status = budget.status ?? {};
  return decideUnavailability({
    operation,
    compat,
    pod: {
      name,
      unprotected: isUnprotected(pod),
      ready: isReady(pod),
      consistent: isConsistent(pod, compat === undefined ? {} : { compat }),
      ignored: isIgnored(entry, pod),
      recorded: covered !== undefined && isRecorded(status, covered),
    },
    budget: {
      name: budget.metadata.name ?? '',
      generation: budget.metadata.generation ?? 0,
      observedGeneration: status.observedGeneration ?? 0,
      protects: protects(budget.spec ?? {}, operation, gates, compat ? annotatedOperations(budget) : []),
      desired: status.desiredAvailable ?? 0,
      allowed: status.unavailableAllowed ?? 0,
      entries: ledgerSize(status),
    },
    scope: scopeOf(entry, covered, question.scaleOf),
  });
}

/** OpenKruise compares the words of the annotation as they are, blanks and unknown ones included. */
function annotatedOperations({ metadata }: PodUnavailableBudget): string[] {
  const text = metadata.annotations?.[OPERATIONS_ANNOTATION];
  return text === undefined || text === '' ? [] : text.split(',');
}

/** What a budget counts a pod as: one of its pods, a member of a group, or a pod by itself under a budget of groups. */
export function scopeOf(
  { budget, tally }: IndexedBudget,
  pod: CoveredPod | undefined,
  scaleOf: JudgeQuestion['scaleOf'],
): Scope {
  const spec = budget.spec ?? {};
  if (spec.podGroupPolicy === undefined) return { kind: 'Pods' };
  const group = pod?.group === undefined ? undefined : tally.group(pod.group);
  if (isThresholdGivenUp({ budget, tally })) {
    const expected = expectedPods([...tally.pods.values()], scaleOf);
    return { kind: 'Ungrouped', available: tally.availablePods, ...computeDesired(spec, expected) };
  }
  if (group === undefined) {
    const loose = [...tally.pods.values()].filter((one) => one.group === undefined);
    const labelled = [...tally.pods.values()].filter((one) => one.group !== undefined && one.active);
    const expected = expectedPods(loose, (uid) => {
      const scale = scaleOf(uid);
      return scale === undefined ? undefined : scale - labelled.filter(({ ownerUid }) => ownerUid === uid).length;
    });
    return { kind: 'Ungrouped', available: tally.ungroupedAvailable, ...computeDesired(spec, expected) };
  }
  const expected = budget.status?.totalReplicas ?? 0;
  return {
    kind: 'Group',
    identity: group.identity,
    ready: group.ready,
    needed: group.needed,
    availableGroups: tally.availableGroups,
    expected,
    ...computeDesired(spec, expected),
    unavailableNow: () => tally.unavailableGroupNames(5),
  };
}

/** As many as are seen, or as their owners ask for, whichever is more. */
function expectedPods(pods: readonly CoveredPod[], scaleOf: JudgeQuestion['scaleOf']): number {
  const owners = new Set(pods.flatMap(({ ownerUid }) => ownerUid ?? []));
  const asked = [...owners].reduce((sum, uid) => sum + (scaleOf(uid) ?? 0), 0);
  return Math.max(pods.filter(({ active }) => active).length, asked);
}

export interface ChargeRequest {
  readonly operation: ProtectedOperation;
  readonly podName: string;
  readonly nowMs: number;
  readonly compat?: boolean | undefined;
  /** The covered pods, from who is certain to know all of them: grants that have been carried out are then dropped. */
  readonly pods?: ReadonlyMap<string, LedgerPod> | undefined;
}

/** The status after a grant was recorded; undefined when nothing is to be written. */
export function chargedUnavailability(
  status: PodUnavailableBudgetStatus | undefined,
  verdict: UnavailabilityGrant,
  { compat = false, nowMs, operation, podName, pods }: ChargeRequest,
): PodUnavailableBudgetStatus | undefined {
  if (!verdict.record) return undefined;
  const isUpdate = operation === 'UPDATE' || (operation === 'RESIZE' && !compat);
  const map = isUpdate ? 'unavailablePods' : 'disruptedPods';
  return {
    ...status,
    [map]: { ...withoutDone(status?.[map] ?? {}, pods), [podName]: formatTime(nowMs) },
    ...(verdict.unavailableAllowed === undefined ? {} : { unavailableAllowed: verdict.unavailableAllowed }),
  };
}

/** Above this many grants those that are done are dropped; the map is written whole with every grant. */
const TIDY_ABOVE = 4;

/** What the controller would drop as well. Pods that stay keep their entry until the controller has seen to it. */
function withoutDone(
  entries: Readonly<Record<string, string>>,
  pods: ReadonlyMap<string, LedgerPod> | undefined,
): Readonly<Record<string, string>> {
  const names = Object.keys(entries);
  if (pods === undefined || names.length <= TIDY_ABOVE) return entries;
  const kept: Record<string, string> = {};
  for (const name of names) if (pods.get(name)?.active === true) kept[name] = entries[name] as string;
  return kept;
}
