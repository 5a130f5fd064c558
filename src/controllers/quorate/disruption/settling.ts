import type { BudgetCount } from '../../../decisions/disruption/index.ts';
import { type Clock, wallTimeOf } from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

/** How long groups must have been unresolved before a budget that counted them counts pods. */
export const SETTLING_MS = 30_000;

/** After a restart it is looked at for at least so long: nobody knows whether there was a break meanwhile. */
const WITNESS_MS = 5_000;

/** Since when budgets have been counting groups that cannot all be resolved, without a break. */
export class SettlingTimes {
  readonly #settlingMs: number;
  readonly #since = new Map<string, { readonly atElapsed: number; readonly inherited: boolean }>();

  constructor(settlingMs: number = SETTLING_MS) {
    this.#settlingMs = settlingMs;
  }

  /**
   * When the budget may count pods; undefined when it has nothing to settle. The condition it published tells what
   * another process has seen; its time is cut to whole seconds.
   */
  until(key: string, { budget, mode }: BudgetCount, clock: Clock): number | undefined {
    if (mode.settling === undefined) {
      this.#since.delete(key);
      return undefined;
    }
    const { settling } = budget.status;
    let since = this.#since.get(key);
    if (since === undefined) {
      since = { atElapsed: clock.elapsed(), inherited: settling?.status === 'True' };
      this.#since.set(key, since);
    }
    const { inherited } = since;
    const at = wallTimeOf(clock, since.atElapsed);
    if (!inherited) return at + this.#settlingMs;
    const published = (parseTime(settling?.lastTransitionTime) ?? at) + 1000;
    return Math.max(published + this.#settlingMs, at + Math.min(WITNESS_MS, this.#settlingMs));
  }

  forget(key: string): void {
    this.#since.delete(key);
  }
}
