import type { PlanBudget, PlanPod, PlanUnit } from './model.ts';

/** True when losing this many healthy members takes a unit down that is up. */
export function goesDown(
  { healthy, needed, wholesale = false }: { healthy: number; needed: number; wholesale?: boolean },
  lost: number,
): boolean {
  if (lost === 0 || healthy < needed) return false;
  return wholesale || healthy - lost < needed;
}

/** What the evictions of one step cost every budget. Pods are taken together or not at all. */
export class Account {
  readonly #budgets: ReadonlyMap<string, PlanBudget>;
  readonly #lost = new Map<string, number>();
  readonly #spent = new Map<string, number>();

  constructor(budgets: ReadonlyMap<string, PlanBudget>) {
    this.#budgets = budgets;
  }

  copy(): Account {
    const twin = new Account(this.#budgets);
    for (const [key, count] of this.#lost) twin.#lost.set(key, count);
    for (const [id, count] of this.#spent) twin.#spent.set(id, count);
    return twin;
  }

  /** Takes the pods of a unit if every budget lets them go beside what was taken before; answers whether it did. */
  take(unit: PlanUnit, pods: readonly PlanPod[]): boolean {
    const undo: (() => void)[] = [];
    for (const pod of pods) {
      for (const id of unit.budgets) this.#lose({ ...unit, budget: id }, undo);
      for (const cell of pod.cells ?? []) this.#lose(cell, undo);
    }
    const touched = new Set([...unit.budgets, ...pods.flatMap(({ cells = [] }) => cells.map(({ budget }) => budget))]);
    if ([...touched].every((id) => this.#holds(id))) return true;
    for (const back of undo.reverse()) back();
    return false;
  }

  #lose(
    cell: { id: string; budget: string; healthy: number; needed: number; wholesale?: boolean },
    undo: (() => void)[],
  ): void {
    const key = `${cell.budget}\n${cell.id}`;
    const before = this.#lost.get(key) ?? 0;
    this.#lost.set(key, before + 1);
    undo.push(() => this.#lost.set(key, before));
    if (goesDown(cell, before) || !goesDown(cell, before + 1)) return;
    const spent = this.#spent.get(cell.budget) ?? 0;
    this.#spent.set(cell.budget, spent + 1);
    undo.push(() => this.#spent.set(cell.budget, spent));
  }

  /** A budget that is broken lets nothing go, not even what costs it nothing. */
  #holds(id: string): boolean {
    const allowance = this.#budgets.get(id)?.allowance ?? Number.POSITIVE_INFINITY;
    return allowance >= 0 && (this.#spent.get(id) ?? 0) <= allowance;
  }
}
