/** Steps in which groups go into the room that the others of them leave. */
import { expect, test } from 'vitest';
import type { Node } from '../../api/generated/core-v1.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import { node, pod, type PodOptions } from '../placement/fixtures.ts';
import { Cluster, podFacts } from '../placement/index.ts';
import type { DrainPlan, PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { planDrain } from './plan.ts';
import { findUnfit } from './recheck.ts';

const GPU = 'nvidia.com/gpu';
const ZONE = 'zone';

interface Gang extends Partial<PlanUnit> {
  /** The node of each member, and how many GPUs it has. */
  readonly on: readonly (readonly [string, number, PodOptions?])[];
}

interface Asked {
  readonly nodes: readonly Node[];
  readonly gangs: Readonly<Record<string, Gang>>;
  readonly drain: readonly string[];
  readonly more?: Partial<PlanQuestion>;
}

const zoned = (name: string, zone: string, gpus: number, labels: Record<string, string> = {}): Node =>
  node(name, { cpu: 64, labels: { [ZONE]: zone, ...labels }, extended: { [GPU]: String(gpus) } });

function ask({ drain, gangs, more, nodes }: Asked): PlanQuestion {
  const cluster = new Cluster();
  for (const one of nodes) cluster.setNode(one);
  const pods: PlanPod[] = [];
  const units = Object.entries(gangs).map(([id, { on, ...unit }]): PlanUnit => {
    for (const [at, [name, gpus, options]] of on.entries()) {
      const facts = podFacts(pod(`${id}-${at}`, { requests: { [GPU]: String(gpus) }, ...options }), cluster.resources);
      cluster.place(facts, name);
      pods.push({ id: `default/${id}-${at}`, node: name, unit: id, facts, replacement: facts });
    }
    const topology = [{ key: ZONE, mode: 'Required' as const }];
    return { id, budgets: [], healthy: on.length, needed: on.length, wholesale: true, topology, ...unit };
  });
  const planned = nodes.map(({ metadata: { name = '' } }) => ({ name, drain: drain.includes(name) }));
  return { cluster, searches: () => true, nodes: planned, pods, units, budgets: [], nodesReturn: false, ...more };
}

/** A gang of a zone that has to go to the next one of them, where another gang has all GPUs; each of `zones` has one. */
function ring(zones: readonly string[], more: Partial<PlanQuestion> = {}): Asked {
  return {
    // Beside its GPUs, each gang has a pod on a node that goes, whose kind of node is in the next zone as well.
    nodes: zones.flatMap((zone, at) => [
      zoned(`${zone}-gpus`, zone, 4, { pool: `${zones.at(at - 1)}` }),
      zoned(`${zone}-old`, zone, 0, { pool: zone }),
    ]),
    gangs: Object.fromEntries(
      zones.map((zone) => [
        `from-${zone}`,
        {
          budgets: ['p'],
          on: [
            [`${zone}-gpus`, 4],
            [`${zone}-old`, 0, { nodeSelector: { pool: zone } }],
          ],
        },
      ]),
    ),
    drain: zones.map((zone) => `${zone}-old`),
    more: { budgets: [{ id: 'p', allowance: zones.length }], ...more },
  };
}

const unitsOf = ({ steps }: DrainPlan) => steps.map(({ evictions }) => evictions.map(({ unit }) => unit).sort());

test('PL-04: two gangs that free each other’s room stay, unless an exchange is allowed or room is reserved', () => {
  const plan = planDrain(ask(ring(['a', 'b'])));
  expect(plan.steps).toEqual([]);
  expect(plan.blocked.map(({ reason, unit }) => [unit, reason])).toEqual([
    ['from-a', 'NoRoom'],
    ['from-b', 'NoRoom'],
  ]);
  for (const more of [{ allowExchange: true }, { reserve: true }]) {
    const exchanged = planDrain(ask(ring(['a', 'b'], more)));
    expect(exchanged).toMatchObject({ blocked: [], disruptions: 2, lowerBound: 2, hitAgain: 0 });
    expect(exchanged.steps).toMatchObject([{ exchange: true, completes: ['a-old', 'b-old'] }]);
    expect(unitsOf(exchanged)).toEqual([['from-a', 'from-b']]);
    for (const { confidence, unit, where } of exchanged.steps[0]?.evictions ?? []) {
      const to = unit === 'from-a' ? 'b-gpus' : 'a-gpus';
      expect(where).toEqual({ [`default/${unit}-0`]: to, [`default/${unit}-1`]: to });
      expect(confidence).toEqual({ kind: 'assumed', list: ['RoomOfTheGoing'] });
    }
  }
});

test('an exchange leaves the cluster of the question as it was', () => {
  const asked = ask(ring(['a', 'b'], { allowExchange: true }));
  const first = planDrain(asked);
  expect(JSON.stringify(planDrain(asked))).toBe(JSON.stringify(first));
  expect(asked.pods.map(({ facts }) => asked.cluster.placed(facts.uid)?.node.name)).toEqual(
    asked.pods.map(({ node: name }) => name),
  );
  expect(asked.cluster.nodes.every(({ closed }) => !closed)).toBe(true);
});

test('three gangs of which each needs the room of the next are one exchange', () => {
  const plan = planDrain(ask(ring(['a', 'b', 'c'], { allowExchange: true })));
  expect(plan.blocked).toEqual([]);
  expect(unitsOf(plan)).toEqual([['from-a', 'from-b', 'from-c']]);
});

test('an exchange is within every budget: gangs that may not be down together stay', () => {
  const budgets = [{ id: 'p', allowance: 1 }];
  const plan = planDrain(ask(ring(['a', 'b'], { allowExchange: true, budgets })));
  expect(plan.steps).toEqual([]);
  expect(plan.blocked).toHaveLength(2);
});

test('what fits without an exchange goes without one, and what an exchange frees is used after it', () => {
  const asked = ring(['a', 'b'], { allowExchange: true });
  const nodes = [...asked.nodes, zoned('c-old', 'c', 1), zoned('c-gpus', 'c', 1)];
  const gangs = { ...asked.gangs, easy: { on: [['c-old', 1] as const] } };
  const plan = planDrain(ask({ ...asked, nodes, gangs, drain: [...asked.drain, 'c-old'] }));
  expect(plan.blocked).toEqual([]);
  expect(plan.steps.map(({ exchange, evictions }) => [exchange, evictions.map(({ unit }) => unit).sort()])).toEqual([
    [undefined, ['easy']],
    [true, ['from-a', 'from-b']],
  ]);
});

test('a gang that would fit where it is trades its zone where another has no other way', () => {
  const nodes = [zoned('a1', 'a', 1), zoned('a2', 'a', 3), zoned('b1', 'b', 4), zoned('b2', 'b', 1)];
  const gangs: Record<string, Gang> = {
    four: { on: [['a1', 1], ...Array.from({ length: 3 }, () => ['a2', 1] as const)] },
    three: {
      on: [
        ['b2', 1],
        ['b1', 1],
        ['b1', 1],
      ],
    },
  };
  const drain = ['a1', 'b2'];
  expect(planDrain(ask({ nodes, gangs, drain })).blocked).toMatchObject([{ unit: 'four', reason: 'NoRoom' }]);
  const plan = planDrain(ask({ nodes, gangs, drain, more: { allowExchange: true } }));
  expect(plan.blocked).toEqual([]);
  expect(unitsOf(plan)).toEqual([['four', 'three']]);
  expect(plan.steps[0]?.exchange).toBe(true);
});

test('right before it begins, an exchange is asked about as one, and names what has no place any more', () => {
  const told = ring(['a', 'b'], { allowExchange: true });
  const [step] = planDrain(ask(told)).steps;
  if (step === undefined) throw new Error('no step');
  expect(findUnfit(ask(told), step)).toEqual([]);
  // Somebody has cut the node that both zones' GPUs are on.
  const nodes = told.nodes.map((one) =>
    one.metadata.name === 'b-gpus' ? zoned('b-gpus', 'b', 3, { pool: 'a' }) : one,
  );
  expect(findUnfit(ask({ ...told, nodes }), step)).toMatchObject([
    { unit: 'from-a', text: expect.stringMatching(/^NoRoom: /) },
  ]);
});

const ROUNDS = Number(process.env['QUORATE_PLAN_ROUNDS'] ?? 1);

/** Up to four gangs in three zones, most of them with members that stay, and hardly any room. */
function draw(seed: number): Asked {
  const random = seededRandom(seed);
  const whole = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const names = ['a', 'b', 'c'].flatMap((zone) =>
    [0, 1].map((at) => ({ name: `${zone}${at}`, zone, drain: at === 0 })),
  );
  const gangs: Record<string, Gang> = {};
  for (let at = 0, total = whole(2, 4); at < total; at += 1) {
    const zone = 'abc'[whole(0, 2)] as string;
    const on = Array.from({ length: whole(1, 4) }, () => [`${zone}${whole(0, 1)}`, whole(0, 2)] as const);
    gangs[`g${at}`] = { on, budgets: random() < 0.5 ? ['p'] : [] };
  }
  const used = (name: string): number =>
    Object.values(gangs).reduce(
      (sum, { on }) => sum + on.reduce((own, [at, gpus]) => own + (at === name ? gpus : 0), 0),
      0,
    );
  const nodes = names.map(({ drain, name, zone }) => zoned(name, zone, used(name) + (drain ? 0 : whole(0, 2))));
  const drain = names.flatMap(({ drain: goes, name }) => (goes && random() < 0.7 ? [name] : []));
  const more = { allowExchange: true, nodesReturn: random() < 0.3, budgets: [{ id: 'p', allowance: whole(1, 3) }] };
  return { nodes, gangs, drain, more };
}

test('PL-04: with exchanges no plan leaves more behind, and everything stands where there is room after each step', () => {
  let exchanges = 0;
  for (let seed = 1; seed <= 120 * ROUNDS; seed += 1) {
    const told = draw(seed);
    const plan = planDrain(ask(told));
    const without = planDrain(ask({ ...told, more: { ...told.more, allowExchange: false } }));
    expect(plan.blocked.length, `seed ${seed}`).toBeLessThanOrEqual(without.blocked.length);
    exchanges += plan.steps.filter(({ exchange }) => exchange === true).length;
    checkStands(told, plan, `seed ${seed}`);
  }
  expect(exchanges).toBeGreaterThan(ROUNDS);
});

/** Follows a plan in the plainest way: room on nodes, one zone for a gang, budgets within a step. */
function checkStands({ drain, gangs, more, nodes }: Asked, { steps }: DrainPlan, seed: string): void {
  const at = new Map<string, string>(
    Object.entries(gangs).flatMap(([id, { on }]) => on.map(([name], n) => [`default/${id}-${n}`, name])),
  );
  const gpus = new Map<string, number>(
    Object.entries(gangs).flatMap(([id, { on }]) => on.map(([, count], n) => [`default/${id}-${n}`, count] as const)),
  );
  const closed = new Set(drain);
  for (const { completes, evictions } of steps) {
    const down = evictions.filter(({ disrupts, unit }) => disrupts && (gangs[unit]?.budgets?.length ?? 0) > 0);
    expect(down.length, seed).toBeLessThanOrEqual(more?.budgets?.[0]?.allowance ?? 0);
    for (const { where } of evictions) {
      for (const [pod, to] of Object.entries(where)) {
        expect(closed.has(to), `${seed}: ${pod} goes to ${to}`).toBe(false);
        at.set(pod, to);
      }
    }
    for (const { metadata, status } of nodes) {
      const taken = [...at].reduce((sum, [pod, on]) => sum + (on === metadata.name ? (gpus.get(pod) ?? 0) : 0), 0);
      expect(taken, `${seed}: GPUs on ${metadata.name}`).toBeLessThanOrEqual(Number(status?.allocatable?.[GPU]));
    }
    for (const { unit } of evictions) {
      const zones = new Set([...at].flatMap(([pod, on]) => (pod.startsWith(`default/${unit}-`) ? [on.charAt(0)] : [])));
      expect(zones.size, `${seed}: zones of ${unit}`).toBe(1);
    }
    if (more?.nodesReturn === true) for (const name of completes) closed.delete(name);
  }
}
