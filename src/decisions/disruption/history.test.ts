/**
 * Whole histories of one budget: evictions, failures, edits, restarts, and a controller that may look long before it
 * writes. Whatever the order, a granted eviction either takes nothing from what is available or leaves what the budget
 * asks for at that moment.
 */
import fc from 'fast-check';
import { test } from 'vitest';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { computeAllowed, computeDesired } from './arithmetic.ts';
import { readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, NOW, podObject } from './fixtures.ts';
import { readWorkload } from './group-facts.ts';
import { readPod } from './pod-facts.ts';
import { decideEviction } from './verdict.ts';

const UNITS = 3;
const SIZE = 3;
const MIN_COUNT = 2;

const pod = { unit: fc.nat(UNITS - 1), at: fc.nat(SIZE - 1) };
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('evict' as const), deletes: fc.boolean(), ...pod }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ready' as const), ready: fc.boolean(), ...pod }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), ...pod }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('create' as const), ...pod }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edit' as const), minAvailable: fc.nat(UNITS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 60, 121) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

class History {
  readonly #grouped: boolean;
  readonly #pods = new Map<string, { unit: number; ready: boolean; going: boolean }>();
  #index = new DisruptionIndex();
  #budget: PodDisruptionBudget;
  #version = 1;
  #now = NOW;
  #seen: { version: number; status: PodDisruptionBudget['status'] } | undefined;

  constructor(grouped: boolean) {
    this.#grouped = grouped;
    this.#budget = budgetObject({ spec: { minAvailable: grouped ? 2 : 6 }, observed: 0 });
    for (let unit = 0; unit < UNITS; unit += 1) for (let at = 0; at < SIZE; at += 1) this.#create(unit, at);
    this.restart();
  }

  restart(): void {
    this.#index = new DisruptionIndex();
    const podGroups = [{ name: 'g', replicas: UNITS, policy: { gang: { minCount: MIN_COUNT } } }];
    this.#index.setWorkload('default', 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
    for (const name of this.#pods.keys()) this.#tell(name);
    this.#index.setBudget(readBudget(this.#budget));
  }

  play(one: typeof step extends fc.Arbitrary<infer S> ? S : never): void {
    const name = 'unit' in one ? `g${one.unit}p${one.at}` : '';
    const state = this.#pods.get(name);
    switch (one.kind) {
      case 'evict':
        if (state !== undefined) this.#evict(name, one.deletes);
        break;
      case 'ready':
        if (state !== undefined) state.ready = one.ready;
        break;
      case 'delete':
        if (state?.going) this.#pods.delete(name);
        else if (state !== undefined) state.going = true;
        break;
      case 'create':
        if (state === undefined) this.#create(one.unit, one.at);
        break;
      case 'look':
        this.#look();
        break;
      case 'write':
        if (this.#seen?.version === this.#version) this.#put({ ...this.#budget, status: this.#seen.status });
        this.#seen = undefined;
        break;
      case 'edit': {
        const { metadata, spec } = this.#budget;
        const minAvailable = this.#grouped ? one.minAvailable : one.minAvailable * SIZE;
        const generation = (metadata.generation ?? 0) + 1;
        this.#put({ ...this.#budget, metadata: { ...metadata, generation }, spec: { ...spec, minAvailable } });
        break;
      }
      case 'wait':
        this.#now += one.seconds * 1000;
        break;
      case 'restart':
        this.restart();
    }
    if (name !== '') this.#tell(name);
  }

  #create(unit: number, at: number): void {
    this.#pods.set(`g${unit}p${at}`, { unit, ready: true, going: false });
  }

  #tell(name: string): void {
    const state = this.#pods.get(name);
    if (state === undefined) {
      this.#index.deletePod('default', name);
      return;
    }
    const workloadRef = { name: 'w', podGroup: 'g', podGroupReplicaKey: String(state.unit) };
    const options = { ready: state.ready, terminating: state.going, ...(this.#grouped && { spec: { workloadRef } }) };
    this.#index.setPod(readPod(podObject(name, options)));
  }

  #put(budget: PodDisruptionBudget): void {
    this.#budget = budget;
    this.#version += 1;
    this.#index.setBudget(readBudget(budget));
  }

  get #available(): number {
    const up = [...this.#pods.entries()].filter(([name, { going, ready }]) => {
      const at = Date.parse(this.#budget.status?.disruptedPods?.[name] ?? '');
      return ready && !going && !(at + 120_000 > this.#now);
    });
    if (!this.#grouped) return up.length;
    const counts = Array.from({ length: UNITS }, (_, unit) => up.filter(([, pod]) => pod.unit === unit).length);
    return counts.filter((count) => count >= MIN_COUNT).length;
  }

  /** What the controller would write if it wrote now; it may do so later. */
  #look(): void {
    const count = this.#index.count('default', 'foo', this.#now);
    if (count === undefined) throw new Error('the budget is not indexed');
    const expected = this.#grouped ? count.expectedUnits : count.pods;
    const desired = computeDesired(count.budget, expected);
    const disruptedPods = Object.fromEntries(
      Object.entries(this.#budget.status?.disruptedPods ?? {}).filter(([name, at]) => {
        const state = this.#pods.get(name);
        return state !== undefined && !state.going && Date.parse(at) + 120_000 >= this.#now;
      }),
    );
    this.#seen = {
      version: this.#version,
      status: {
        observedGeneration: this.#budget.metadata.generation,
        disruptionsAllowed: computeAllowed(count.healthy, desired, expected),
        currentHealthy: count.healthy,
        desiredHealthy: desired,
        expectedPods: expected,
        disruptedPods,
        conditions: (this.#grouped && count.mode.unit === 'PodGroup' ? [groupUnits] : []) as never,
      },
    };
  }

  #evict(name: string, deletes: boolean): void {
    const question = this.#index.ask('default', name, this.#now);
    const state = this.#pods.get(name);
    if (question === undefined || state === undefined) throw new Error(`${name} is not indexed`);
    const before = this.#available;
    const verdict = decideEviction(question);
    if (!verdict.allowed) return;
    if (verdict.charge !== undefined) {
      const { status = {} } = this.#budget;
      const allowed = (status.disruptionsAllowed ?? 0) - verdict.charge.cost;
      const disruptedPods = { ...status.disruptedPods, [name]: formatTime(this.#now) };
      this.#put({ ...this.#budget, status: { ...status, disruptionsAllowed: allowed, disruptedPods } });
    }
    // A failed precondition leaves the pod where it is, approved.
    if (deletes) state.going = true;
    const after = this.#available;
    const asked = this.#budget.spec?.minAvailable as number;
    if (after < before && after < asked) throw new Error(`evicting ${name} left ${after} of ${asked}`);
  }
}

for (const grouped of [true, false]) {
  test(`no history leaves a budget in ${grouped ? 'groups' : 'pods'} broken by an eviction`, () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const history = new History(grouped);
        for (const one of steps) history.play(one);
      }),
      { numRuns: 10_000 },
    );
  });
}
