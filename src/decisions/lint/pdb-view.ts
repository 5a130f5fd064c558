import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import {
  type BudgetCount,
  computeAllowed,
  computeDesired,
  type DisruptionIndex,
  needsExpectedScale,
  readBudget,
} from '../disruption/index.ts';
import type { LintPod, PodSet, Scale } from './pod-set.ts';

/** The numbers of a budget with everything well. */
export interface Best {
  readonly expected: number;
  readonly desired: number;
  readonly healthy: number;
  readonly allowed: number;
}

export interface PdbView {
  readonly kind: 'PodDisruptionBudget';
  readonly object: PodDisruptionBudget;
  readonly count: BudgetCount;
  readonly pods: readonly LintPod[];
  /** `None`: some controller of the pods has no scale, so the budget cannot be counted and refuses everything. */
  readonly scale: Scale;
  /** Undefined where the numbers cannot be known. */
  readonly best: Best | undefined;
}

export function viewPdb(
  object: PodDisruptionBudget,
  index: DisruptionIndex,
  podOf: (namespace: string, name: string) => LintPod | undefined,
): PdbView {
  const { name, namespace } = readBudget(object);
  const count = index.count(namespace, name, 0) as BudgetCount;
  const pods = index.podsOf(namespace, name).flatMap((facts) => podOf(facts.namespace, facts.name) ?? []);
  const scale = scaleOf(pods);
  return { kind: 'PodDisruptionBudget', object, count, pods, scale, best: bestOf(count, pods, scale, index) };
}

function bestOf(count: BudgetCount, pods: readonly LintPod[], scale: Scale, index: DisruptionIndex): Best | undefined {
  const { budget } = count;
  if (count.mode.unit === 'PodGroup') {
    const expected = count.expectedUnits;
    // A group that can never reach its minimum is down for good; one that is only not there yet will come.
    const hopeless = index
      .shortOf(budget.namespace, budget.name, 0)
      .filter(({ members, minCount }) => members < minCount).length;
    return numbers(expected, Math.max(count.healthy, expected - hopeless));
  }
  const healthy = Math.max(count.healthy, sumOf(pods));
  // With neither bound nothing is expected, and so nothing may go.
  if (budget.minAvailable === undefined && budget.maxUnavailable === undefined) return numbers(0, healthy);
  if (!needsExpectedScale(budget)) return numbers(healthy, healthy);
  return typeof scale === 'number' ? numbers(scale, healthy) : undefined;

  function numbers(expected: number, up: number): Best {
    const desired = computeDesired(budget, expected);
    return { expected, desired, healthy: up, allowed: computeAllowed(up, desired, expected) };
  }
}

/** The scale of all distinct controllers together; pods without one add nothing. */
function scaleOf(pods: readonly LintPod[]): Scale {
  let sum = 0;
  let unknown = false;
  for (const { managed, scale } of setsOf(pods).keys()) {
    if (!managed) continue;
    if (scale === 'None') return 'None';
    if (scale === 'Unknown') unknown = true;
    else sum += scale;
  }
  return unknown ? 'Unknown' : sum;
}

/** As many pods as there will be once every controller has made its own. */
function sumOf(pods: readonly LintPod[]): number {
  let sum = 0;
  for (const [{ scale }, seen] of setsOf(pods)) sum += typeof scale === 'number' ? Math.max(scale, seen) : seen;
  return sum;
}

export function setsOf(pods: readonly LintPod[]): Map<PodSet, number> {
  const sets = new Map<PodSet, number>();
  for (const { set } of pods) sets.set(set, (sets.get(set) ?? 0) + 1);
  return sets;
}
