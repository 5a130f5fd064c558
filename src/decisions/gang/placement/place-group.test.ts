import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cluster } from '../../placement/cluster/cluster.ts';
import { cluster, facts, node, pod } from '../../placement/fixtures.ts';
import { type CompositeQuestion, type LeafQuestion, placeGroup } from './place-group.ts';

function gang(made: Cluster, cpus: readonly number[], over: Partial<LeafQuestion> = {}): LeafQuestion {
  const name = over.name ?? 'g';
  const pods = cpus.map((cpu, index) => facts(made, pod(`${name}-${index}`, { cpu }), name));
  return { kind: 'leaf', name, needed: cpus.length, scheduled: 0, pods, ...over };
}

const requestedCpu = (made: Cluster): number[] => made.nodes.map(({ requested }) => requested[0] ?? 0);

test('S4-01 placeGroup() places all three members over 2+1 free CPUs', () => {
  const made = cluster([node('a', { cpu: 2 }), node('b', { cpu: 1 })]);
  const { placements, reason } = placeGroup(gang(made, [1, 1, 1]), made);
  expect(reason).toBe('Scheduled');
  expect(placements.map((each) => each.node).sort()).toEqual(['a', 'a', 'b']);
});

test('S4-04 S4-15 placeGroup() places nothing, and leaves nothing behind, when one member has no room', () => {
  const made = cluster([node('a', { cpu: 2 })]);
  const { leftOut, message, placements, reason } = placeGroup(gang(made, [1, 1, 1]), made);
  expect([reason, placements.length, leftOut.length]).toEqual(['Unschedulable', 0, 3]);
  expect(message).toBe('2 of 3 pods of group "g" fit, at least 3 needed: 0/1 nodes are available: 1 Insufficient cpu.');
  expect(requestedCpu(made)).toEqual([0]);
});

test('G-02 placeGroup() places the minimum and leaves the surplus out', () => {
  const made = cluster([node('a', { cpu: 2 })]);
  const { leftOut, placements, reason } = placeGroup(gang(made, [1, 1, 1], { needed: 2 }), made);
  expect([reason, placements.length, leftOut.length]).toEqual(['Scheduled', 2, 1]);
});

test('G-05 placeGroup() counts members that have a place already', () => {
  const made = cluster([node('a', { cpu: 1 })]);
  expect(placeGroup(gang(made, [1], { needed: 3, scheduled: 2 }), made).reason).toBe('Scheduled');
  expect(placeGroup(gang(made, [1], { needed: 4, scheduled: 2 }), made).reason).toBe('Unschedulable');
});

test('G-10 placeGroup() places what fits of a basic group', () => {
  const made = cluster([node('a', { cpu: 2 })]);
  const { placements, reason } = placeGroup(gang(made, [1, 1, 1], { needed: 1 }), made);
  expect([reason, placements.length]).toEqual(['Scheduled', 2]);
});

test('P-05 placeGroup() calls a satisfied group that places nothing unschedulable, so that room is made', () => {
  const made = cluster([node('a', { cpu: 1 })]);
  const { leftOut, reason } = placeGroup(gang(made, [2], { needed: 2, scheduled: 2 }), made);
  expect([reason, leftOut.length]).toEqual(['Unschedulable', 1]);
});

test('placeGroup() finds the one way unequal members fit', () => {
  // The small pod goes to the emptier node first, which the big one then needs.
  const made = cluster([node('small', { cpu: 1 }), node('big', { cpu: 4 })]);
  const { placements, reason } = placeGroup(gang(made, [1, 4]), made);
  expect(reason).toBe('Scheduled');
  expect(placements.find((each) => each.pod.name === 'g-1')?.node).toBe('big');
});

const racks = (a: number, b: number) =>
  cluster([node('a', { cpu: a, labels: { rack: 'A' } }), node('b', { cpu: b, labels: { rack: 'B' } })]);

test('G-20 placeGroup() keeps a group within one topology domain', () => {
  const made = racks(3, 2);
  const { placements } = placeGroup(gang(made, [1, 1, 1], { topologyKey: 'rack' }), made);
  expect(placements.map((each) => each.node)).toEqual(['a', 'a', 'a']);
  const split = racks(2, 2);
  expect(placeGroup(gang(split, [1, 1, 1], { topologyKey: 'rack' }), split).reason).toBe('Unschedulable');
});

test('G-20 placeGroup() stays in the domain where a member already is', () => {
  const made = racks(3, 2);
  const over = { topologyKey: 'rack', scheduled: 1, scheduledOn: ['b'], needed: 3 };
  const { placements } = placeGroup(gang(made, [1, 1], over), made);
  expect(placements.map((each) => each.node)).toEqual(['b', 'b']);
  expect(placeGroup(gang(made, [1, 1, 1], { ...over, needed: 4 }), made).reason).toBe('Unschedulable');
});

test('G-21 placeGroup() undoes a child that fits when its composite does not', () => {
  const made = cluster([node('a', { cpu: 2 })]);
  const children = [gang(made, [1, 1], { name: 'fits' }), gang(made, [1, 1], { name: 'does-not' })];
  const { placements, reason } = placeGroup({ kind: 'composite', name: 'c', needed: 2, children }, made);
  expect([reason, placements.length]).toEqual(['Unschedulable', 0]);
  expect(requestedCpu(made)).toEqual([0]);
  expect(placeGroup({ kind: 'composite', name: 'c', needed: 1, children }, made).placements).toHaveLength(2);
});

const zones = (...nodes: (readonly [zone: string, rack: string, cpu: number])[]) =>
  cluster(nodes.map(([zone, rack, cpu], at) => node(`n${at}`, { cpu, labels: { zone, rack } })));
const pair = (made: Cluster, over: Partial<LeafQuestion> = {}, counts = [2, 2]): CompositeQuestion => ({
  kind: 'composite',
  name: 'pair',
  needed: counts.length,
  topologyKey: 'zone',
  children: counts.map((count, at) =>
    gang(
      made,
      Array.from({ length: count }, () => 1),
      { name: `g${at}`, ...over },
    ),
  ),
});

test('placeGroup() keeps all groups of a composite within its topology domain', () => {
  const made = zones(['A', 'a', 3], ['B', 'b', 4]);
  expect(placeGroup(pair(made), made).placements.map((each) => each.node)).toEqual(['n1', 'n1', 'n1', 'n1']);
  const split = zones(['A', 'a', 3], ['B', 'b', 3]);
  const { leftOut, message, reason } = placeGroup(pair(split), split);
  expect([reason, leftOut.length]).toEqual(['Unschedulable', 4]);
  expect(message).toContain('1 of 2 groups of "pair" fit, at least 2 needed');
  expect(requestedCpu(split)).toEqual([0, 0]);
  const basic = { ...pair(split), topologyKey: undefined };
  expect(placeGroup(basic, split).placements).toHaveLength(4);
});

test('placeGroup() lets groups choose a domain of their own within that of their composite', () => {
  const made = zones(['A', 'a', 4], ['A', 'b', 1], ['B', 'c', 2], ['B', 'd', 2]);
  const places = (question: CompositeQuestion) => placeGroup(question, made).placements.map((each) => each.node);
  // Four fit into zone B only as two and two, each on a rack.
  expect(places(pair(made, { topologyKey: 'rack' }, [2, 2])).sort()).toEqual(['n2', 'n2', 'n3', 'n3']);
  expect(places(pair(made, { topologyKey: 'rack' }, [4, 1])).sort()).toEqual(['n0', 'n0', 'n0', 'n0', 'n1']);
  expect(places(pair(made, { topologyKey: 'rack' }, [3, 2]))).toEqual([]);
  expect(placeGroup(pair(made, { topologyKey: 'row' }), made).message).toContain(
    'no node with zone=B has the label "row" that the group must share',
  );
});

test('placeGroup() keeps a composite in the domain where a member of any of its groups already is', () => {
  const made = zones(['A', 'a', 8], ['B', 'b', 2]);
  const inB = gang(made, [], { name: 'placed', needed: 1, scheduled: 1, scheduledOn: ['n1'] });
  const question = (cpus: readonly number[]): CompositeQuestion => ({
    ...pair(made),
    children: [inB, gang(made, cpus, { name: 'late' })],
  });
  expect(placeGroup(question([1, 1]), made).placements.map((each) => each.node)).toEqual(['n1', 'n1']);
  expect(placeGroup(question([1, 1, 1]), made).reason).toBe('Unschedulable');
});

test('placeGroup() places a composite with a topology exactly when one domain takes all its groups', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(sizes, sizes, sizes, (counts, a, b) => {
      const made = zones(...a.map((cpu) => ['A', 'a', cpu] as const), ...b.map((cpu) => ['B', 'b', cpu] as const));
      const { placements, reason } = placeGroup(pair(made, {}, counts), made);
      const sum = (numbers: readonly number[]): number => numbers.reduce((left, right) => left + right, 0);
      expect(reason === 'Scheduled').toBe(sum(counts) <= Math.max(sum(a), sum(b)));
      expect(new Set(placements.map((each) => made.node(each.node)?.labels['zone'])).size).toBeLessThanOrEqual(1);
      expect(sum(requestedCpu(made))).toBe(0);
    }),
  );
});

test('placeGroup() says when no node carries the topology label', () => {
  const made = cluster([node('a')]);
  expect(placeGroup(gang(made, [1], { topologyKey: 'rack' }), made).message).toContain('label "rack"');
});

/** Tries every assignment: the oracle for small clusters. */
function fits(cpus: readonly number[], free: readonly number[], needed: number): boolean {
  if (needed <= 0) return true;
  const [first, ...rest] = cpus;
  if (first === undefined || cpus.length < needed) return false;
  const here = free.some((left, at) => left >= first && fits(rest, free.with(at, left - first), needed - 1));
  return here || fits(rest, free, needed);
}

const smallInts = (max: number, length: number) =>
  fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: length });

test('placeGroup() places a gang exactly when some assignment exists, and never overcommits a node', () => {
  fc.assert(
    fc.property(smallInts(4, 4), smallInts(3, 6), fc.integer({ min: 1, max: 6 }), (nodes, cpus, min) => {
      const needed = Math.min(min, cpus.length);
      const made = cluster(nodes.map((cpu, index) => node(`n${index}`, { cpu })));
      const { placements, reason } = placeGroup(gang(made, cpus, { needed }), made);
      expect(reason === 'Scheduled').toBe(fits(cpus, nodes, needed));
      expect(placements.length === 0 || placements.length >= needed).toBe(true);
      expect(requestedCpu(made).every((used) => used === 0)).toBe(true);
      for (const each of placements) made.place(each.pod, each.node);
      made.nodes.forEach(({ allocatable, requested }) => {
        expect(requested[0] ?? 0).toBeLessThanOrEqual(allocatable[0] ?? 0);
      });
    }),
    { numRuns: 300 },
  );
});
