/** Plans over whole groups: a group goes down only where all of it comes up again. */
import { expect, test } from 'vitest';
import { node, pod, type PodOptions } from '../placement/fixtures.ts';
import { Cluster, podFacts } from '../placement/index.ts';
import type { Node } from '../../api/generated/core-v1.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import type { PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { planDrain } from './plan.ts';

const GPU = 'nvidia.com/gpu';
const ZONE = 'topology.kubernetes.io/zone';
const gpus = (name: string, count: number, labels: Record<string, string> = {}): Node =>
  node(name, { cpu: 64, labels, extended: count > 0 ? { [GPU]: String(count) } : {} });

interface Gang extends Partial<PlanUnit> {
  readonly on: readonly string[];
  readonly pod?: PodOptions;
}

function ask(nodes: readonly Node[], gangs: Record<string, Gang>, drain: string[], nodesReturn = false): PlanQuestion {
  const cluster = new Cluster();
  for (const one of nodes) cluster.setNode(one);
  const pods: PlanPod[] = [];
  const units = Object.entries(gangs).map(([id, { on, pod: options, ...unit }]): PlanUnit => {
    for (const [at, name] of on.entries()) {
      const facts = podFacts(pod(`${id}-${at}`, options ?? { requests: { [GPU]: '1' } }), cluster.resources);
      cluster.place(facts, name);
      pods.push({ id: `default/${id}-${at}`, node: name, unit: id, facts, replacement: facts });
    }
    return { id, budgets: [], healthy: on.length, needed: on.length, wholesale: false, ...unit };
  });
  const planned = nodes.map(({ metadata: { name = '' } }) => ({ name, drain: drain.includes(name) }));
  return { cluster, nodes: planned, pods, units, budgets: [], nodesReturn };
}

const eight = (name: string): string[] => Array.from({ length: 8 }, () => name);
const steps = (asked: PlanQuestion) => planDrain(asked).steps.map(({ evictions }) => evictions.map(({ unit }) => unit));

test('PL-01: a gang with GPUs does not go where there are none', () => {
  const plain = Array.from({ length: 8 }, (_, at) => gpus(`cpu${at}`, 0));
  const plan = planDrain(ask([gpus('going', 8), ...plain], { gang: { on: eight('going') } }, ['going']));
  expect(plan.steps).toEqual([]);
  expect(plan.blocked).toMatchObject([
    { reason: 'NoRoom', text: 'NoRoom: 8 × nvidia.com/gpu; no node that stays has any' },
  ]);
});

test('PL-02: a gang that must share a zone does not go where no zone has room for all', () => {
  const nodes = [gpus('going', 8, { zone: 'c' }), gpus('a1', 6, { zone: 'a' }), gpus('b1', 6, { zone: 'b' })];
  const gang: Gang = { on: eight('going'), topology: [{ key: 'zone', mode: 'Required' }] };
  expect(planDrain(ask(nodes, { gang }, ['going'])).blocked).toMatchObject([
    { text: 'NoRoom: 8 × nvidia.com/gpu in one zone; the best zone has 6 free (a)' },
  ]);
});

test('a group whose members are placed as they come goes only where no first choice leaves the others out', () => {
  const nodes = [gpus('going', 2, { zone: 'c' }), gpus('a1', 2, { zone: 'a' }), gpus('b1', 1, { zone: 'b' })];
  const gang: Gang = { on: ['going', 'going'], topology: [{ key: 'zone', mode: 'Required' }] };
  expect(planDrain(ask(nodes, { gang }, ['going'])).blocked).toEqual([]);
  const { blocked, steps: made } = planDrain(ask(nodes, { gang: { ...gang, apart: true } }, ['going']));
  expect(blocked).toMatchObject([{ unit: 'gang', reason: 'CannotTell' }]);
  expect(made).toEqual([]);
});

test('PL-03: of two gangs with room for one, the second goes when the node of the first is back, or not at all', () => {
  const nodes = [gpus('n1', 4), gpus('n2', 4), gpus('free', 4)];
  const four = (name: string): Gang => ({ on: [name, name, name, name] });
  const gangs = { one: four('n1'), two: four('n2') };
  expect(steps(ask(nodes, gangs, ['n1', 'n2'], true))).toEqual([['one'], ['two']]);
  const plan = planDrain(ask(nodes, gangs, ['n1', 'n2']));
  expect(plan.blocked).toMatchObject([{ unit: 'two', reason: 'NoRoom' }]);
});

test('a group that could spare a member goes whole where all of it must change its zone', () => {
  const nodes = [gpus('going', 3, { zone: 'a' }), gpus('b1', 3, { zone: 'b' })];
  const gang: Gang = { on: ['going', 'going', 'going'], needed: 2, topology: [{ key: 'zone', mode: 'Required' }] };
  const plan = planDrain({ ...ask(nodes, { gang }, ['going']), searches: () => true });
  expect(plan).toMatchObject({ blocked: [], disruptions: 1, lowerBound: 1 });
  expect(plan.steps.map(({ evictions }) => evictions.map(({ pods }) => pods.length))).toEqual([[3]]);
  // Where its own zone has room, it gives them one by one and stays up.
  const beside = planDrain(ask([...nodes, gpus('a1', 3, { zone: 'a' })], { gang }, ['going']));
  expect(beside).toMatchObject({ blocked: [], disruptions: 0 });
});

test('members of a group that shares a zone do not go in turns to where only all of them at once could be', () => {
  const nodes = [gpus('going', 3, { zone: 'a' }), gpus('back', 0, { zone: 'a' }), gpus('b1', 3, { zone: 'b' })];
  const topology = [{ key: 'zone', mode: 'Required' as const }];
  const gang: Gang = { on: ['going', 'going', 'going'], needed: 2, topology, budgets: ['none'] };
  const asked = { ...ask(nodes, { gang }, ['going', 'back'], true), budgets: [{ id: 'none', allowance: 0 }] };
  const plan = planDrain({ ...asked, searches: () => true });
  expect(plan.blocked).toMatchObject([{ unit: 'gang', reason: 'NoRoom' }]);
  expect(plan.disruptions).toBe(0);
});

test('PL-05: what an earlier step has moved counts for the next', () => {
  const zones = [gpus('n1', 0, { zone: 'a' }), gpus('n2', 0, { zone: 'a' }), gpus('b1', 0, { zone: 'b' })];
  const web = { labels: { app: 'web' }, cpu: 1 };
  const shy = {
    cpu: 1,
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } },
        ],
      },
    },
  } as PodOptions;
  const gangs = { a: { on: ['n1', 'n1'], pod: web }, z: { on: ['n2'], pod: shy } };
  expect(planDrain(ask(zones, gangs, ['n1', 'n2'])).blocked).toMatchObject([{ unit: 'z', reason: 'NoRoom' }]);
});

test('PL-06: a group that restarts as a whole comes back into its own room', () => {
  const nodes = [gpus('going', 1), gpus('stays', 8)];
  const gang: Gang = { on: ['going', ...Array.from({ length: 7 }, () => 'stays')], wholesale: true };
  const plan = planDrain(ask(nodes, { gang }, ['going']));
  expect(plan.blocked).toEqual([]);
  expect(plan.steps[0]?.evictions[0]).toMatchObject({ pods: ['default/gang-0'], disrupts: true });
});

test('PL-14: bad input is named, never a crash and never a yes', () => {
  const bare: Node = { metadata: { name: 'bare' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const nodes = [gpus('going', 8, { zone: 'c' }), bare, gpus('a1', 4, { zone: 'a' })];
  const gangs: Record<string, Gang> = {
    large: { on: ['going', 'going', 'going', 'going', 'going'], topology: [{ key: 'zone', mode: 'Required' }] },
    odd: { on: ['going'], pod: { requests: { 'example.com/tpu': '1' } } },
    wrong: { on: ['going'], pod: { requests: { cpu: 'lots' } } },
  };
  const { blocked, steps: made } = planDrain(ask(nodes, gangs, ['going']));
  expect(made).toEqual([]);
  expect(blocked.map(({ reason, unit }) => [unit, reason])).toEqual([
    ['large', 'NoRoom'],
    ['odd', 'NoRoom'],
    ['wrong', 'CannotTell'],
  ]);
});

test('an upgrade of a fleet in four zones leaves nothing behind where each zone has room for one of its nodes', () => {
  const zones = ['a', 'b', 'c', 'd'];
  const zoneOf = (at: number): string => zones[at % 4] as string;
  const names = Array.from({ length: 48 }, (_, at) => `n${at}`);
  const random = seededRandom(7);
  const used = new Map<string, number>();
  const take = (fits: (at: number) => boolean): string => {
    let at = Math.floor(random() * names.length);
    while (!fits(at) || (used.get(names[at] as string) ?? 0) >= 6) at = (at + 1) % names.length;
    const name = names[at] as string;
    used.set(name, (used.get(name) ?? 0) + 1);
    return name;
  };
  const gangs: Record<string, Gang> = {};
  for (let group = 0; group < 60; group += 1) {
    const home = Math.floor(group / 2) % 4;
    const bound = group % 2 === 0;
    const on = Array.from({ length: 4 }, () => take((at) => !bound || at % 4 === home));
    gangs[`g${group}`] = { on, ...(bound && { topology: [{ key: ZONE, mode: 'Required' as const }] }) };
  }
  const nodes = [...names, ...zones].map((name, at) => gpus(name, 6, { [ZONE]: zoneOf(at) }));
  const plan = planDrain(ask(nodes, gangs, names, true));
  expect(plan.blocked).toEqual([]);
  expect(plan.steps.flatMap(({ completes }) => completes).sort()).toEqual([...names].sort());
});

test('PL-16: where every zone has room for one of its nodes and budgets bind, a whole fleet is upgraded, twice alike', () => {
  const zones = ['a', 'b', 'c', 'd'];
  const names = Array.from({ length: 80 }, (_, at) => `n${at}`);
  const used = names.map(() => 0);
  const random = seededRandom(5);
  const gangs: Record<string, Gang> = {};
  for (let group = 0; group < 50; group += 1) {
    const bound = group % 2 === 0;
    const home = Math.floor(group / 2) % 4;
    const on = Array.from({ length: 8 }, () => {
      let at = Math.floor(random() * names.length);
      while ((used[at] ?? 0) >= 6 || (bound && at % 4 !== home)) at = (at + 1) % names.length;
      used[at] = (used[at] ?? 0) + 1;
      return names[at] as string;
    });
    const topology = [{ key: ZONE, mode: 'Required' as const }];
    gangs[`g${group}`] = { on, budgets: [`b${group % 5}`], ...(bound && { topology }) };
  }
  const nodes = [...names, ...zones].map((name, at) => gpus(name, 6, { [ZONE]: zones[at % 4] as string }));
  const budgets = Array.from({ length: 5 }, (_, at) => ({ id: `b${at}`, allowance: 2 }));
  const plan = (): ReturnType<typeof planDrain> => planDrain({ ...ask(nodes, gangs, names, true), budgets });
  const first = plan();
  // One zone after the other, a node's pods fit where a spare node stands: nothing has to stay behind.
  expect(first.blocked).toEqual([]);
  expect(first.steps.flatMap(({ completes }) => completes).sort()).toEqual([...names].sort());
  for (const { evictions } of first.steps) {
    const down = evictions.filter(({ disrupts }) => disrupts).map(({ unit }) => gangs[unit]?.budgets?.[0]);
    for (const { id } of budgets) expect(down.filter((budget) => budget === id).length).toBeLessThanOrEqual(2);
  }
  expect(JSON.stringify(plan())).toBe(JSON.stringify(first));
});
