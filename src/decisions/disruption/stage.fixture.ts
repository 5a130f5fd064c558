import { computeAllowed, computeDesired } from './arithmetic.ts';
import { type BudgetFacts, readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { type BudgetOptions, budgetObject, groupUnits, member, type PodOptions, NOW } from './fixtures.ts';
import { readWorkload } from './group-facts.ts';
import { decideEviction } from './verdict.ts';

type Group = { name?: string; replicas?: number; minCount?: number };

/** A namespace with one Workload and one budget, kept in step as the disruption controller would. */
export class Stage {
  readonly index = new DisruptionIndex();
  now = NOW;
  #options: BudgetOptions;
  #disrupted: Record<string, number> = {};
  #allowed = 0;

  constructor(groups: Group[], spec: BudgetOptions['spec'], more: BudgetOptions = {}) {
    this.#options = { ...more, spec: { ...(spec as object) } };
    this.workload(groups);
  }

  workload(groups: Group[] | undefined): void {
    const podGroups = groups?.map(({ name = 'g', replicas = 1, minCount }) => ({
      name,
      replicas,
      policy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
    }));
    const facts = podGroups && readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never);
    this.index.setWorkload('default', 'w', facts);
  }

  units(count: number, size: number, more: PodOptions & { group?: string } = {}): this {
    const prefix = more.group ?? 'g';
    for (let unit = 0; unit < count; unit += 1) {
      for (let at = 0; at < size; at += 1) this.member(`${prefix}${unit}p${at}`, String(unit), more);
    }
    return this;
  }

  member(name: string, key: string, { group = 'g', ...more }: PodOptions & { group?: string } = {}): this {
    this.index.setPod(member(name, { podGroup: group, key }, more));
    return this;
  }

  /** What the controller would publish now. */
  sync() {
    this.#put([]);
    const count = this.index.count('default', 'foo', this.now);
    if (count === undefined) throw new Error('no budget');
    const inGroups = count.mode.unit === 'PodGroup';
    const expected = inGroups ? count.expectedUnits : count.pods;
    const desired = computeDesired(count.budget, expected);
    this.#allowed = computeAllowed(count.healthy, desired, expected);
    this.#put([this.#allowed, count.healthy, desired, expected], inGroups);
    return { A: this.#allowed, C: count.healthy, D: desired, E: expected, mode: count.mode.reason };
  }

  /** Evicts as the handler would, without deleting the pod. */
  evict(name: string): string {
    const question = this.index.ask('default', name, this.now);
    if (question === undefined) throw new Error(`no pod ${name}`);
    const verdict = decideEviction(question);
    if (!verdict.allowed) return verdict.reason;
    if (verdict.charge !== undefined) {
      this.#disrupted = { ...this.#disrupted, [name]: this.now };
      this.#allowed -= verdict.charge.cost;
      const { status } = verdict.charge.view.budget;
      this.#put(
        [this.#allowed, status.currentHealthy, status.desiredHealthy, status.expectedPods],
        status.podGroupBudget?.status === 'True',
      );
    }
    return `201 cost ${verdict.charge?.cost ?? 'none'}`;
  }

  get allowed(): number {
    return this.#allowed;
  }

  #put(status: readonly number[], inGroups = false): BudgetFacts {
    const facts = readBudget(
      budgetObject({
        ...this.#options,
        disrupted: this.#disrupted,
        ...(status.length === 4 && { status: status as unknown as readonly [number, number, number, number] }),
        conditions: inGroups ? [groupUnits] : [],
      }),
    );
    this.index.setBudget(facts);
    return facts;
  }
}
