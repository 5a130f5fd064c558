import { isLimitReason, type LimitRefusal } from '../policies/index.ts';
import { computeDesired } from './arithmetic.ts';
import type { BudgetFacts } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import type { ShortUnit } from './short-units.ts';
import { type JudgeOptions, judgeEviction } from './judge.ts';
import type { ModeReason } from './mode.ts';
import type { CountedPod } from './pod-facts.ts';
import { type Remedy, remediesFor, remediesForUnits } from './remedy.ts';
import type { PodName, Step } from './together.ts';
import type { BudgetView, EvictionVerdict, GrantReason, RefusalReason } from './verdict.ts';

/** A pod that keeps its group or its budget short. */
export interface ShortPod {
  readonly name: string;
  readonly unit: string | undefined;
  readonly why: 'NotReady' | 'Terminating' | 'Evicting' | 'Unresolved';
  /** RFC 3339; absent when the pod does not say. */
  readonly since: string | undefined;
}

export interface BudgetNumbers {
  readonly name: string;
  readonly counts: 'Pod' | 'PodGroup';
  readonly modeReason: ModeReason;
  /** The spec in words, such as `minAvailable 9`. */
  readonly asks: string;
  readonly expected: number;
  readonly healthy: number;
  readonly desired: number;
  readonly allowed: number;
}

/** Why an eviction is granted or refused now, for people and programs alike. */
export interface Explanation {
  readonly namespace: string;
  readonly pod: string;
  readonly allowed: boolean;
  /** Refused only because of pods that would go before it. */
  readonly jointly?: boolean;
  readonly reason: GrantReason | RefusalReason;
  /** Where the whole unit would go, or what keeps it from there; only under budgets that ask for room. */
  readonly room?: string | undefined;
  readonly budgets: readonly BudgetNumbers[];
  /** What DisruptionPolicies say against it; absent where they say nothing. */
  readonly policies?: readonly LimitRefusal[] | undefined;
  readonly unit:
    | { readonly name: string; readonly healthy: number; readonly minCount: number; readonly members: number }
    | undefined;
  /** The first few; `shortTotal` counts all. */
  readonly short: readonly ShortPod[];
  readonly shortTotal: number;
  /** Smallest change first; empty when the eviction is granted. */
  readonly remedies: readonly Remedy[];
}

const SHORT_PODS_SHOWN = 10;

/** Explains the decision about a pod; undefined when there is no such pod. */
export function explainEviction(
  index: DisruptionIndex,
  { name: podName, namespace }: PodName,
  now: number,
  judgement: JudgeOptions = { isCordoned: () => false },
): Explanation | undefined {
  const question = index.ask(namespace, podName, now);
  const verdict = judgeEviction(index, { namespace, name: podName }, now, judgement);
  if (question === undefined || verdict === undefined) return undefined;
  const view = question.views[0];
  const unit = view?.unit && index.unitOf(namespace, podName, view.budget.name, now);
  const down =
    verdict.allowed || view === undefined || isLimitReason(verdict.reason)
      ? []
      : index.shortOf(namespace, view.budget.name, now);
  const short = listShort(down);
  return {
    namespace,
    pod: podName,
    allowed: verdict.allowed,
    reason: verdict.reason,
    ...roomOf(verdict),
    budgets: question.views.map((one) => numbersOf(one, index, now)),
    ...limitsOf(verdict),
    unit:
      unit?.name === undefined
        ? undefined
        : { name: unit.name, healthy: unit.healthy, minCount: unit.minCount, members: unit.members },
    short: short.slice(0, SHORT_PODS_SHOWN),
    shortTotal: short.length,
    remedies: verdict.allowed
      ? []
      : remediesFor(verdict, question.pod, { down, expected: expectedOf(index, view, now) }),
  };
}

/**
 * Explains a step that was refused because of the steps before it: on its own the pod might go. The numbers are those
 * that would be left then.
 */
export function explainStep(index: DisruptionIndex, { pod, verdict }: Step, now: number): Explanation | undefined {
  const alone = explainEviction(index, pod, now);
  const facts = index.pod(pod.namespace, pod.name);
  if (alone === undefined || facts === undefined || !alone.allowed || verdict.allowed) return alone;
  const [view] = verdict.views;
  const wait: Remedy = {
    action: 'Wait',
    text: 'let the pods before it go first and evict it when their replacements are Ready',
  };
  const others = remediesFor(verdict, facts, { down: [], expected: expectedOf(index, view, now) });
  const isLimit = isLimitReason(verdict.reason);
  return {
    ...alone,
    allowed: false,
    jointly: true,
    reason: verdict.reason,
    ...roomOf(verdict),
    budgets: verdict.views.map((one) => numbersOf(one, index, now)),
    ...limitsOf(verdict),
    remedies: isLimit ? others : [wait, ...others.filter(({ action }) => action === 'ChangeBudget')],
  };
}

/** Where one budget stands, and what would let it lose one more pod or group. */
export interface BudgetExplanation {
  readonly namespace: string;
  readonly budget: BudgetNumbers;
  readonly pods: number;
  /** Selected pods that count for nothing because they belong to no group. */
  readonly individual: number;
  readonly short: readonly ShortPod[];
  readonly shortTotal: number;
  /** Groups with fewer pods than they need; some are short although no pod of theirs is. */
  readonly incomplete: readonly IncompleteGroup[];
  readonly remedies: readonly Remedy[];
}

export interface IncompleteGroup {
  readonly name: string;
  readonly pods: number;
  readonly minCount: number;
}

export function explainBudget(
  index: DisruptionIndex,
  { name, namespace }: PodName,
  now: number,
): BudgetExplanation | undefined {
  const count = index.count(namespace, name, now);
  if (count === undefined) return undefined;
  const { budget, healthy, mode } = count;
  const inGroups = mode.unit === 'PodGroup';
  const expected = inGroups ? count.expectedUnits : budget.status.expectedPods;
  const desired = inGroups ? computeDesired(budget, expected) : budget.status.desiredHealthy;
  const allowed = budget.status.disruptionsAllowed;
  const view = { budget, mode, live: healthy, desired, allowed, unit: undefined };
  const down = index.shortOf(namespace, name, now);
  const short = listShort(down);
  return {
    namespace,
    budget: {
      name,
      counts: mode.unit,
      modeReason: mode.reason,
      asks: formatAsk(budget),
      expected,
      healthy,
      desired,
      allowed,
    },
    pods: count.pods,
    individual: mode.individual,
    short: short.slice(0, SHORT_PODS_SHOWN),
    shortTotal: short.length,
    incomplete: down
      .filter(({ members, minCount, unresolved }) => members < minCount && unresolved !== true)
      .map(({ members, minCount, name: group }) => ({ name: group ?? '', pods: members, minCount })),
    remedies: allowed > 0 ? [] : remediesForUnits(view, { down, expected }, 1),
  };
}

function limitsOf(verdict: EvictionVerdict): Pick<Explanation, 'policies'> {
  return verdict.allowed || verdict.policies === undefined ? {} : { policies: verdict.policies };
}

function roomOf({ room }: EvictionVerdict): { room?: string } {
  if (room === undefined) return {};
  if (typeof room === 'string') return { room };
  const places = new Map<string, number>();
  for (const { node } of room.where) places.set(node, (places.get(node) ?? 0) + 1);
  const nodes = [...places].map(([node, pods]) => (pods === 1 ? node : `${node} (${pods} pods)`));
  return { room: `Room: ${nodes.join(', ')}` };
}

function expectedOf(index: DisruptionIndex, view: BudgetView | undefined, now: number): number {
  if (view === undefined) return 0;
  if (view.mode.unit === 'Pod') return view.budget.status.expectedPods;
  return index.count(view.budget.namespace, view.budget.name, now)?.expectedUnits ?? 0;
}

export function numbersOf(view: BudgetView, index: DisruptionIndex, now: number): BudgetNumbers {
  return {
    name: view.budget.name,
    counts: view.mode.unit,
    modeReason: view.mode.reason,
    asks: formatAsk(view.budget),
    expected: expectedOf(index, view, now),
    healthy: view.live,
    desired: view.desired,
    allowed: view.allowed,
  };
}

export function formatAsk({ maxUnavailable, minAvailable }: BudgetFacts): string {
  if (maxUnavailable !== undefined) return `maxUnavailable ${maxUnavailable}`;
  return minAvailable === undefined ? 'neither minAvailable nor maxUnavailable' : `minAvailable ${minAvailable}`;
}

export function listShort(units: readonly ShortUnit[]): ShortPod[] {
  return units.flatMap(({ name, missing, unresolved }) =>
    missing.map(({ evicting, pod }) => ({ name: pod.name, unit: name, ...stateOf(pod, { evicting, unresolved }) })),
  );
}

function stateOf(
  pod: CountedPod,
  { evicting, unresolved }: { evicting: boolean; unresolved: boolean | undefined },
): Pick<ShortPod, 'why' | 'since'> {
  if (pod.deletionTimestamp !== undefined) return { why: 'Terminating', since: pod.deletionTimestamp };
  if (evicting) return { why: 'Evicting', since: undefined };
  if (unresolved) return { why: 'Unresolved', since: undefined };
  return { why: 'NotReady', since: pod.readyChangedAt ?? pod.createdAt };
}
