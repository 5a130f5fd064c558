import type { SimulatedSample } from './observer.ts';

export interface BudgetPoint {
  readonly seconds: number;
  readonly available: number;
  readonly desired: number;
}

export interface Violation {
  readonly fromSeconds: number;
  /** Absent: until the end. */
  readonly toSeconds?: number;
  /** How many the budget was short of at worst. */
  readonly missing: number;
  /** It began after a node was lost, which no budget can refuse. */
  readonly involuntary?: true;
}

export interface BudgetLine {
  readonly id: string;
  readonly unit: 'groups' | 'pods';
  /** Each change; a value holds until the next point. */
  readonly points: readonly BudgetPoint[];
  readonly violations: readonly Violation[];
  /** Groups of this budget that went down once, and more often. */
  readonly disruptedOnce: number;
  readonly disruptedAgain: number;
}

/** Collects samples into what happened to each budget and each group. */
export class SimulatedTimeline {
  readonly #lines = new Map<string, { unit: 'groups' | 'pods'; points: BudgetPoint[] }>();
  readonly #groups = new Map<string, { up: boolean; times: number; budgets: readonly string[] }>();

  add(seconds: number, { budgets, groups }: SimulatedSample): void {
    for (const { available, desired, id, unit } of budgets) {
      const line = this.#lines.get(id) ?? { unit, points: [] };
      this.#lines.set(id, line);
      const last = line.points.at(-1);
      if (last?.available === available && last.desired === desired) continue;
      if (last?.seconds === seconds) line.points.pop();
      line.points.push({ seconds, available, desired });
    }
    for (const [id, { budgets: own, up }] of groups) {
      const known = this.#groups.get(id);
      if (known === undefined) this.#groups.set(id, { up, times: 0, budgets: own });
      else this.#note(known, up);
    }
    // A group without a single pod left is down too.
    for (const [id, known] of this.#groups) if (!groups.has(id)) this.#note(known, false);
  }

  #note(group: { up: boolean; times: number }, up: boolean): void {
    if (group.up && !up) group.times += 1;
    group.up = up;
  }

  /** How often each group that went down did. */
  hits(): Map<string, number> {
    return new Map([...this.#groups].filter(([, { times }]) => times > 0).map(([id, { times }]) => [id, times]));
  }

  /** @param lostAt when a node was lost */
  budgets(lostAt?: number): BudgetLine[] {
    return [...this.#lines]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { points, unit }]) => {
        const own = [...this.#groups.values()].filter(({ budgets }) => budgets.includes(id));
        return {
          id,
          unit,
          points,
          violations: violationsOf(points).map((one) =>
            lostAt !== undefined && one.fromSeconds >= lostAt ? { ...one, involuntary: true as const } : one,
          ),
          disruptedOnce: own.filter(({ times }) => times === 1).length,
          disruptedAgain: own.filter(({ times }) => times > 1).length,
        };
      });
  }
}

function violationsOf(points: readonly BudgetPoint[]): Violation[] {
  const violations: Violation[] = [];
  let open: { fromSeconds: number; missing: number } | undefined;
  for (const { available, desired, seconds } of points) {
    const missing = desired - available;
    if (missing > 0)
      open = { fromSeconds: open?.fromSeconds ?? seconds, missing: Math.max(open?.missing ?? 0, missing) };
    else if (open !== undefined) {
      violations.push({ ...open, toSeconds: seconds });
      open = undefined;
    }
  }
  return open === undefined ? violations : [...violations, open];
}
