import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { readReserveMs } from '../../api/quorate/reserve-time.ts';
import {
  fromLabelSelector,
  type IntOrPercent,
  nothing,
  parseTime,
  type Selector,
} from '../../machinery/values/index.ts';
import { type Claims, readClaims } from './claims.ts';
import { type GroupBy, readGroupBy } from './group-by.ts';
import { lostRoomOf, type RoomReserve } from './room.ts';

export const BUDGET_SCOPE = 'policy.quorate.dev/budget-scope';
export const DRAIN_LOOKAHEAD = 'policy.quorate.dev/drain-lookahead';
/** `Require`: a unit is taken down only while all of it finds places; `Ignore`, or nothing: without a look. */
export const CAPACITY = 'policy.quorate.dev/capacity';
/** For how long room is held by placeholder pods once a disruption is granted, such as `10m`. */
export const CAPACITY_RESERVE = 'policy.quorate.dev/capacity-reserve';
/** `Proceed`: what cannot be held is granted all the same; `Refuse`, or nothing: refused. */
export const CAPACITY_RESERVE_FAILURE = 'policy.quorate.dev/capacity-reserve-failure';
/** `Low`: what holds room gives way to nearly everything; `Group`, or nothing: it is as important as the group. */
export const CAPACITY_RESERVE_PRIORITY = 'policy.quorate.dev/capacity-reserve-priority';

/** Condition of a budget that counts groups which cannot all be resolved. */
export const SETTLING = 'Settling';

/** How long an approved eviction counts against the budget while the pod does not go. */
export const DISRUPTION_TIMEOUT_MS = 120_000;

export interface BudgetSpec {
  readonly minAvailable: IntOrPercent | undefined;
  readonly maxUnavailable: IntOrPercent | undefined;
}

/** The numbers as published, zero where the object says nothing. */
export interface BudgetStatus {
  readonly observedGeneration: number;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  /** Pod name to the moment its eviction was approved. */
  readonly disruptedPods: ReadonlyMap<string, number>;
  /** Grants of a ledger, whose numbers are worked out anew with every question; undefined for a budget's own status. */
  readonly claims: Claims | undefined;
  readonly disruptionAllowed: Condition | undefined;
  readonly podGroupBudget: Condition | undefined;
  /** True while groups are counted that cannot all be resolved; it tells since when. */
  readonly settling: Condition | undefined;
  /** Room that was held for a unit went to others, and the unit is not whole yet. */
  readonly roomLost?: string | undefined;
}

export interface BudgetFacts extends BudgetSpec {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly selector: Selector;
  /** Why the selector cannot be used; such a budget matches no pod. */
  readonly selectorError: string | undefined;
  readonly alwaysAllow: boolean;
  /** Asked for by annotation: count groups or pods without looking, and fail closed on what cannot be resolved. */
  readonly scope: 'PodGroup' | 'Pod' | undefined;
  readonly groupBy: GroupBy | 'unknown' | undefined;
  /** An eviction on a cordoned node is judged together with the budget's other pods on that node. */
  readonly lookahead: boolean;
  /** A unit is taken down only while all of it finds places. */
  readonly needsRoom: boolean;
  /** How long that room is held by placeholder pods; undefined: it is not. */
  readonly reserve: RoomReserve | undefined;
  readonly status: BudgetStatus;
  /**
   * What the API server itself goes by, in pods, where the numbers that decide stand elsewhere: an eviction needs both.
   * Undefined where they are the same.
   */
  readonly published: BudgetStatus | undefined;
}

/** Reads a budget. With `previous`, the parts that depend on an unchanged spec are taken over. */
export function readBudget(budget: PodDisruptionBudget, previous?: BudgetFacts): BudgetFacts {
  const { metadata, spec } = budget;
  const status = readBudgetStatus(budget.status);
  const generation = metadata.generation ?? 0;
  const { annotations } = metadata;
  const scope = annotations?.[BUDGET_SCOPE];
  const groupBy = readGroupBy(annotations);
  const options = {
    scope: scope === 'PodGroup' || scope === 'Pod' ? scope : undefined,
    groupBy,
    lookahead: annotations?.[DRAIN_LOOKAHEAD] === 'Node',
    needsRoom: needsRoom(annotations),
    reserve: readReserve(annotations),
    status,
    published: undefined,
  } as const;
  if (previous !== undefined && previous.uid === (metadata.uid ?? '') && previous.generation === generation) {
    const { namespace, name, uid, selector, selectorError, minAvailable, maxUnavailable, alwaysAllow } = previous;
    // Written out: this runs with every eviction, and spreading costs ten times as much.
    return {
      namespace,
      name,
      uid,
      generation,
      selector,
      selectorError,
      minAvailable,
      maxUnavailable,
      alwaysAllow,
      scope: options.scope,
      groupBy,
      lookahead: options.lookahead,
      needsRoom: options.needsRoom,
      reserve: options.reserve,
      status,
      published: undefined,
    };
  }
  let selector: Selector = nothing;
  let selectorError: string | undefined;
  try {
    selector = fromLabelSelector(spec?.selector);
  } catch (error) {
    selectorError = error instanceof Error ? error.message : String(error);
  }
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    generation,
    selector,
    selectorError,
    minAvailable: spec?.minAvailable ?? undefined,
    maxUnavailable: spec?.maxUnavailable ?? undefined,
    alwaysAllow: spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow',
    ...options,
  };
}

/** What is not understood is taken for the stricter one. */
export function needsRoom(annotations: Readonly<Record<string, string>> | undefined): boolean {
  const asked = annotations?.[CAPACITY];
  return asked !== undefined && asked !== 'Ignore';
}

/** What is not understood, or out of bounds, reserves nothing: the budget asks for room all the same. */
function readReserve(annotations: Readonly<Record<string, string>> | undefined): RoomReserve | undefined {
  const text = annotations?.[CAPACITY_RESERVE];
  if (text === undefined || !needsRoom(annotations)) return undefined;
  const forMs = readReserveMs(text);
  if (forMs === undefined) return undefined;
  return {
    forMs,
    onFailure: annotations?.[CAPACITY_RESERVE_FAILURE] === 'Proceed' ? 'Proceed' : 'Refuse',
    low: annotations?.[CAPACITY_RESERVE_PRIORITY] === 'Low',
  };
}

const NO_PODS: ReadonlyMap<string, number> = new Map();

/** Reads the status of a budget, or of the ledger that stands in for it. */
export function readBudgetStatus(status: PodDisruptionBudgetStatus | undefined): BudgetStatus {
  const { disruptedPods } = status ?? {};
  const claims = readClaims(status);
  let disrupted = NO_PODS;
  // Approvals come in bursts, so one reading often serves many entries.
  let text: string | undefined;
  let at = 0;
  for (const name in disruptedPods) {
    // Ledgers repeat the names of their grants there.
    if (claims?.has(name)) continue;
    if (disrupted === NO_PODS) disrupted = new Map();
    if (disruptedPods[name] !== text) {
      text = disruptedPods[name];
      at = parseTime(text) ?? 0;
    }
    (disrupted as Map<string, number>).set(name, at);
  }
  return {
    observedGeneration: status?.observedGeneration ?? 0,
    disruptionsAllowed: status?.disruptionsAllowed ?? 0,
    currentHealthy: status?.currentHealthy ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
    expectedPods: status?.expectedPods ?? 0,
    disruptedPods: disrupted,
    claims,
    disruptionAllowed: status?.conditions?.find(({ type }) => type === 'DisruptionAllowed'),
    podGroupBudget: status?.conditions?.find(({ type }) => type === 'PodGroupBudget'),
    settling: status?.conditions?.find(({ type }) => type === SETTLING),
    roomLost: lostRoomOf(status?.conditions),
  };
}
