/** Budgets of both kinds as one list of gauges, told by the functions that answer evictions. */
import {
  type BudgetExplanation,
  explainBudget,
  formatBudgetExplanation,
  type Remedy,
} from '../decisions/disruption/index.ts';
import {
  explainUnavailableBudget,
  formatUnavailableBudget,
  type UnavailableBudgetExplanation,
} from '../decisions/unavailability/index.ts';
import type { Fleet } from './fleet.ts';

export interface ShownBudget {
  /** `pdb/namespace/name` or `pub/namespace/name`. */
  readonly id: string;
  readonly kind: 'pdb' | 'pub';
  readonly namespace: string;
  readonly name: string;
  readonly counts: 'Pod' | 'PodGroup';
  readonly asks: string;
  readonly expected: number;
  readonly healthy: number;
  readonly desired: number;
  readonly allowed: number;
  readonly pods: number;
  /** Evictions that were granted and may still be carried out. */
  readonly granted: number;
  readonly why: (now: number) => readonly string[];
  readonly remedies: readonly Remedy[];
}

/** The one that keeps the most pods from going stands first. */
export function budgetViews(fleet: Fleet, now: number): ShownBudget[] {
  const views: ShownBudget[] = [];
  for (const budget of fleet.index.budgets()) {
    const told = explainBudget(fleet.index, budget, now);
    if (told !== undefined) views.push(fromBudget(told, grantsOf(budget.status)));
  }
  for (const namespace of fleet.unavailability.indexes.namespaces()) {
    for (const entry of fleet.unavailability.indexes.of(namespace).budgets()) {
      views.push(fromGuard(explainUnavailableBudget(entry)));
    }
  }
  return views.sort((a, b) => blocked(b) - blocked(a) || a.allowed - b.allowed || (a.id < b.id ? -1 : 1));
}

const grantsOf = ({
  claims,
  disruptedPods,
}: {
  claims: { size: number } | undefined;
  disruptedPods: { size: number };
}) => claims?.size ?? disruptedPods.size;

/** Pods that cannot go because of it. */
export const blocked = ({ allowed, pods }: ShownBudget): number => (allowed <= 0 ? pods : 0);

function fromBudget({ budget, namespace, pods, remedies, ...rest }: BudgetExplanation, granted: number): ShownBudget {
  return {
    id: `pdb/${namespace}/${budget.name}`,
    kind: 'pdb',
    namespace,
    ...budget,
    pods,
    granted,
    remedies,
    why: (now) => formatBudgetExplanation({ budget, namespace, pods, remedies, ...rest }, now),
  };
}

function fromGuard(told: UnavailableBudgetExplanation): ShownBudget {
  const { allowed, available, counts, desired, expected, name, namespace, pods } = told;
  return {
    id: `pub/${namespace}/${name}`,
    kind: 'pub',
    namespace,
    name,
    counts,
    asks: 'PodUnavailableBudget',
    expected,
    healthy: available,
    desired,
    allowed,
    pods,
    granted: 0,
    remedies: [],
    why: () => formatUnavailableBudget(told),
  };
}

/** A command that makes the smallest change which lets one more go; undefined where waiting is all there is. */
export function unblockingCommand({ kind, namespace, remedies }: ShownBudget): string | undefined {
  const change = remedies.find((remedy) => remedy.change !== undefined)?.change;
  if (change === undefined) return undefined;
  const patch = JSON.stringify({ spec: { [change.field]: change.value } });
  return `kubectl patch ${kind} ${change.budget} -n ${namespace} --type merge -p '${patch}'`;
}
