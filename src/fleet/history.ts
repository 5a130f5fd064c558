import type { Fleet } from './fleet.ts';
import { budgetViews } from './budget-views.ts';

export interface HistorySample {
  readonly at: number;
  readonly healthy: number;
  readonly desired: number;
}

const KEEP_MS = 10 * 60_000;
const MOST = 300;

/** Where budgets stood since the page was opened: a sample whenever something changed. */
export class BudgetHistory {
  readonly #samples = new Map<string, HistorySample[]>();

  sample(fleet: Fleet, at: number): void {
    for (const { desired, healthy, id } of budgetViews(fleet, at)) {
      const samples = this.#samples.get(id) ?? [];
      const last = samples.at(-1);
      if (last !== undefined && last.healthy === healthy && last.desired === desired) continue;
      samples.push({ at, healthy, desired });
      while (samples.length > MOST || (samples[1]?.at ?? at) < at - KEEP_MS) samples.shift();
      this.#samples.set(id, samples);
    }
  }

  of(id: string): readonly HistorySample[] {
    return this.#samples.get(id) ?? [];
  }
}
