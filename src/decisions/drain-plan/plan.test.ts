import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PlanNode, PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { countNaiveDisruptions } from './naive.ts';
import { planDrain } from './plan.ts';

interface Fleet {
  /** Free slots per node; a pod takes one. */
  readonly nodes: Readonly<Record<string, { free: number; drain?: boolean }>>;
  /** Units by name: the node of each member, and what the unit needs (all members when absent). */
  readonly units: Readonly<
    Record<string, { on: readonly string[]; needed?: number; budget?: string; wholesale?: boolean }>
  >;
  readonly budgets?: Readonly<Record<string, number>>;
  readonly nodesReturn?: boolean;
}

function question({ nodes, units, budgets = {}, nodesReturn = false }: Fleet): PlanQuestion {
  const pods: PlanPod[] = [];
  const planUnits: PlanUnit[] = [];
  for (const [id, { on, needed = on.length, budget, wholesale = false }] of Object.entries(units)) {
    planUnits.push({ id, budgets: budget === undefined ? [] : [budget], healthy: on.length, needed, wholesale });
    for (const [index, node] of on.entries()) pods.push({ id: `${id}-${index}`, node, unit: id, requests: [1] });
  }
  const planNodes: PlanNode[] = Object.entries(nodes).map(([name, { free, drain = false }]) => ({
    name,
    free: [free],
    drain,
  }));
  return {
    resources: ['slots'],
    nodes: planNodes,
    pods,
    units: planUnits,
    budgets: Object.entries(budgets).map(([id, allowance]) => ({ id, allowance })),
    nodesReturn,
  };
}

const down = { free: 0, drain: true };

test('planDrain() takes a gang that spans two nodes down once, not once per node', () => {
  const plan = planDrain(
    question({ nodes: { a: down, b: down, spare: { free: 9 } }, units: { gang: { on: ['a', 'b'] } } }),
  );
  expect(plan).toMatchObject({ disruptions: 1, lowerBound: 1, hitAgain: 0, blocked: [] });
  expect(plan.steps).toHaveLength(1);
  expect(plan.steps[0]?.completes).toEqual(['a', 'b']);
});

test('planDrain() gives spare members without taking the unit down', () => {
  const plan = planDrain(
    question({ nodes: { a: down, spare: { free: 9 } }, units: { shard: { on: ['a', 'a', 'spare'], needed: 2 } } }),
  );
  expect(plan.disruptions).toBe(0);
  expect(plan.steps.map(({ evictions }) => evictions[0]?.pods.length)).toEqual([1, 1]);
});

test('planDrain() a wholesale unit has nothing to spare', () => {
  const plan = planDrain(
    question({
      nodes: { a: down, spare: { free: 9 } },
      units: { shard: { on: ['a', 'spare'], needed: 1, wholesale: true } },
    }),
  );
  expect(plan.disruptions).toBe(1);
});

test('planDrain() takes as many units per step as the budget allows', () => {
  const units = Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [`g${index}`, { on: ['a', 'a'], budget: 'pdb' }]),
  );
  const plan = planDrain(question({ nodes: { a: down, spare: { free: 20 } }, units, budgets: { pdb: 2 } }));
  expect(plan.steps.map(({ evictions }) => evictions.length)).toEqual([2, 2, 1]);
});

test('planDrain() names the budget that allows none, and plans the rest', () => {
  const plan = planDrain(
    question({
      nodes: { a: down, spare: { free: 9 } },
      units: { stuck: { on: ['a'], budget: 'zero' }, free: { on: ['a'] } },
      budgets: { zero: 0 },
    }),
  );
  expect(plan.blocked).toEqual([{ unit: 'stuck', reason: 'BudgetAllowsNone', budgets: ['zero'], nodes: ['a'] }]);
  expect(plan.steps.flatMap(({ evictions }) => evictions.map(({ unit }) => unit))).toEqual(['free']);
  expect(plan.steps.flatMap(({ completes }) => completes)).toEqual([]);
});

test('planDrain() does not even move spare members while the budget is broken', () => {
  const plan = planDrain(
    question({
      nodes: { a: down, s: { free: 9 } },
      units: { u: { on: ['a', 's'], needed: 1, budget: 'b' } },
      budgets: { b: -1 },
    }),
  );
  expect(plan.blocked[0]?.reason).toBe('BudgetBroken');
});

test('planDrain() does not take a group down that fits nowhere else', () => {
  const plan = planDrain(question({ nodes: { a: down, spare: { free: 1 } }, units: { gang: { on: ['a', 'a'] } } }));
  expect(plan.blocked).toEqual([{ unit: 'gang', reason: 'NoRoom', budgets: [], nodes: ['a'] }]);
  expect(plan.steps).toEqual([]);
});

test('planDrain() uses nodes that come back as room for the next ones', () => {
  const plan = planDrain(
    question({
      nodes: { a: down, b: down, spare: { free: 2 } },
      units: { x: { on: ['a', 'a'] }, y: { on: ['b', 'b'] } },
      nodesReturn: true,
    }),
  );
  expect(plan).toMatchObject({ disruptions: 2, blocked: [] });
  expect(plan.steps.map(({ completes }) => completes)).toEqual([['a'], ['b']]);
});

test('planDrain() splits a group only when it cannot move whole', () => {
  const plan = planDrain(
    question({
      nodes: { a: down, b: down, spare: { free: 1 } },
      units: { gang: { on: ['a', 'b'] } },
      nodesReturn: true,
    }),
  );
  expect(plan).toMatchObject({ disruptions: 2, hitAgain: 1, blocked: [] });
});

/** Fleets of up to six nodes and six groups. */
const fleets = fc
  .record({
    drained: fc.integer({ min: 1, max: 5 }),
    kept: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 1 }),
    units: fc.array(
      fc.record({
        on: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
        surplus: fc.integer({ min: 0, max: 2 }),
        budget: fc.option(fc.constantFrom('p', 'q'), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    allowances: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 2 })),
    nodesReturn: fc.boolean(),
  })
  .map(({ drained, kept, units, allowances, nodesReturn }): PlanQuestion => {
    const names = Array.from({ length: 6 }, (_, index) => `n${index}`);
    return question({
      nodes: Object.fromEntries(names.map((name, index) => [name, index < drained ? down : { free: kept[0] ?? 0 }])),
      units: Object.fromEntries(
        units.map(({ on, surplus, budget }, index) => [
          `g${index}`,
          {
            on: on.map((node) => `n${node}`),
            needed: Math.max(1, on.length - surplus),
            ...(budget === undefined ? {} : { budget }),
          },
        ]),
      ),
      budgets: { p: allowances[0], q: allowances[1] },
      nodesReturn,
    });
  });

test('planDrain() never proposes a step the budgets would refuse, and accounts for every pod exactly once', () => {
  fc.assert(
    fc.property(fleets, (asked) => {
      const plan = planDrain(asked);
      const allowance = new Map(asked.budgets.map(({ id, allowance: count }) => [id, count]));
      const units = new Map(asked.units.map((unit) => [unit.id, unit]));
      const seen = new Set<string>();
      for (const { evictions } of plan.steps) {
        const charged = new Map<string, number>();
        for (const { unit: id, pods, disrupts } of evictions) {
          const unit = units.get(id) as PlanUnit;
          for (const pod of pods) {
            expect(seen.has(pod)).toBe(false);
            seen.add(pod);
          }
          expect(disrupts).toBe(unit.healthy >= unit.needed && unit.healthy - pods.length < unit.needed);
          if (disrupts) for (const budget of unit.budgets) charged.set(budget, (charged.get(budget) ?? 0) + 1);
        }
        for (const [budget, count] of charged) expect(count).toBeLessThanOrEqual(allowance.get(budget) as number);
      }
      const wanted = asked.pods.filter(({ node }) => asked.nodes.some(({ name, drain }) => drain && name === node));
      const blocked = new Set(plan.blocked.map(({ unit }) => unit));
      for (const pod of wanted) expect(seen.has(pod.id) || blocked.has(pod.unit)).toBe(true);
      for (const pod of seen) expect(wanted.some(({ id }) => id === pod)).toBe(true);
    }),
    { numRuns: 10_000 },
  );
});

test('planDrain() reaches the lower bound whenever nodes do not return and nothing is blocked', () => {
  fc.assert(
    fc.property(fleets, (asked) => {
      const plan = planDrain({ ...asked, nodesReturn: false });
      if (plan.blocked.length === 0) expect(plan.disruptions).toBe(plan.lowerBound);
    }),
    { numRuns: 2000 },
  );
});

test('planDrain() disrupts at least 30 % fewer groups than node-by-node order on a large fleet', () => {
  const nodes: Record<string, { free: number; drain: boolean }> = {};
  for (let index = 0; index < 200; index += 1) nodes[`n${index}`] = { free: 4, drain: true };
  for (let index = 0; index < 40; index += 1) nodes[`new${index}`] = { free: 20, drain: false };
  const units: Record<string, { on: string[]; budget: string }> = {};
  for (let index = 0; index < 500; index += 1) {
    units[`g${index}`] = {
      on: Array.from({ length: 8 }, (_, member) => `n${(index * 8 + member * 7) % 200}`),
      budget: `b${index % 20}`,
    };
  }
  const asked = question({
    nodes,
    units,
    budgets: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`b${index}`, 2])),
    nodesReturn: true,
  });
  const plan = planDrain(asked);
  expect(plan.blocked).toEqual([]);
  expect(plan.disruptions).toBeLessThanOrEqual(countNaiveDisruptions(asked).disruptions * 0.7);
});
