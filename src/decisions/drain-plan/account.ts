import type { PlanBudget, PlanPod, PlanUnit } from './model.ts';

/** True when losing this many healthy members takes a unit down that is up. */
export function goesDown(
  { healthy, needed, wholesale = false }: { healthy: number; needed: number; wholesale?: boolean },
  lost: number,
): boolean {
  if (lost === 0 || healthy < needed) return false;
  return wholesale || healthy - lost < needed;
}

/** A pod counted as gone. */
interface Loss {
  readonly key: string;
  readonly budget: string;
  /** It took down what the budget counts. */
  readonly charged: boolean;
}

/** What the evictions of one step cost every budget. Pods are taken together or not at all. */
export class Account {
  readonly #budgets: ReadonlyMap<string, PlanBudget>;
  readonly #lost = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  readonly #undo: Loss[] = [];

  constructor(budgets: ReadonlyMap<string, PlanBudget>) {
    this.#budgets = budgets;
  }

  /** Takes the pods of a unit if every budget lets them go beside what was taken before; answers whether it did. */
  take(unit: PlanUnit, pods: readonly PlanPod[]): boolean {
    const mark = this.#undo.length;
    let holds = true;
    for (const budget of unit.budgets) {
      for (let lost = 0; lost < pods.length; lost += 1) this.#lose(unit, budget);
    }
    for (const { cells } of pods) for (const cell of cells ?? []) this.#lose(cell, cell.budget);
    for (const { cells } of pods) for (const { budget } of cells ?? []) holds &&= this.#holds(budget);
    for (const budget of unit.budgets) holds &&= this.#holds(budget);
    if (!holds) this.#rollback(mark);
    return holds;
  }

  /** Looks at what could be taken and gives it back. */
  trial<T>(look: () => T): T {
    const mark = this.#undo.length;
    const answer = look();
    this.#rollback(mark);
    return answer;
  }

  #rollback(mark: number): void {
    for (let at = this.#undo.length - 1; at >= mark; at -= 1) {
      const { budget, charged, key } = this.#undo[at] as Loss;
      this.#lost.set(key, (this.#lost.get(key) ?? 0) - 1);
      if (charged) this.#spent.set(budget, (this.#spent.get(budget) ?? 0) - 1);
    }
    this.#undo.length = mark;
  }

  #lose(cell: { id: string; healthy: number; needed: number; wholesale?: boolean }, budget: string): void {
    const key = `${budget}\n${cell.id}`;
    const before = this.#lost.get(key) ?? 0;
    const charged = !goesDown(cell, before) && goesDown(cell, before + 1);
    this.#lost.set(key, before + 1);
    if (charged) this.#spent.set(budget, (this.#spent.get(budget) ?? 0) + 1);
    this.#undo.push({ key, budget, charged });
  }

  /** A budget that is broken lets nothing go, not even what costs it nothing. */
  #holds(id: string): boolean {
    const allowance = this.#budgets.get(id)?.allowance ?? Number.POSITIVE_INFINITY;
    return allowance >= 0 && (this.#spent.get(id) ?? 0) <= allowance;
  }
}
