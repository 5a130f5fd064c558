import { expect, test } from 'vitest';
import type { Cluster } from '../../placement/cluster/cluster.ts';
import { cluster, facts, node, pod, type PodOptions } from '../../placement/fixtures.ts';
import { findNode } from '../placement/find-node.ts';
import { type LeafQuestion, placeGroup } from '../placement/place-group.ts';
import { preemptForGroup } from './preempt-group.ts';
import { type PreemptionContext, preemptForPod } from './preempt-pod.ts';
import type { ChargeBudgets } from './victim-unit.ts';

const free: () => ChargeBudgets = () => () => false;

function context(made: Cluster, over: Partial<PreemptionContext> = {}): PreemptionContext {
  return { cluster: made, disruptionOf: () => undefined, openBudgets: free, ...over };
}

const low = (name: string, over: PodOptions = {}) => pod(name, { cpu: 1, priority: 1, ...over });

function gang(made: Cluster, size: number, over: PodOptions = {}): LeafQuestion {
  const pods = Array.from({ length: size }, (_, index) =>
    facts(made, pod(`high-${index}`, { cpu: 1, priority: 10, ...over }), 'high'),
  );
  return { kind: 'leaf', name: 'high', needed: size, scheduled: 0, pods };
}

const high = { priority: 10, group: 'high' };

function preempt(made: Cluster, each: ReturnType<typeof pod>, over: Partial<PreemptionContext> = {}) {
  const asked = facts(made, each);
  const { diagnosis } = findNode(asked, made);
  if (diagnosis === undefined) throw new Error('the pod fits without preemption');
  return preemptForPod(asked, diagnosis, context(made, over));
}

const names = (victims: readonly { name: string }[]): string[] => victims.map(({ name }) => name).sort();

test('P-01 preemptForGroup() removes as many victims as the whole gang needs', () => {
  const made = cluster(
    [node('a', { cpu: 2 }), node('b', { cpu: 2 })],
    [
      [low('l0'), 'a'],
      [low('l1'), 'a'],
      [low('l2'), 'b'],
      [low('l3'), 'b'],
    ],
  );
  const answer = preemptForGroup(gang(made, 3), high, context(made));
  if (answer.reason !== 'Preempt') throw new Error(answer.message);
  expect(answer.victims).toHaveLength(3);
  expect(made.nodes.map(({ pods }) => pods.size)).toEqual([2, 2]);
  for (const victim of answer.victims) made.remove(victim.uid);
  expect(placeGroup(gang(made, 3), made).reason).toBe('Scheduled');
});

test('P-01 preemptForGroup() removes nobody when even that is not enough', () => {
  const made = cluster([node('a', { cpu: 2 })], [[low('l0'), 'a']]);
  expect(preemptForGroup(gang(made, 3), high, context(made)).reason).toBe('NoVictims');
  expect(made.nodes[0]?.pods.size).toBe(1);
});

const trio = () =>
  cluster(
    [node('a', { cpu: 2 }), node('b', { cpu: 1 })],
    [
      [low('v0'), 'a', 'victims'],
      [low('v1'), 'a', 'victims'],
      [low('v2'), 'b', 'victims'],
    ],
  );

test('P-02 a victim group of mode all goes whole, for a pod and for a group', () => {
  const disruptionOf = () => ({ mode: 'all' as const });
  const made = trio();
  const single = preempt(made, pod('p', { cpu: 1, priority: 10 }), { disruptionOf });
  expect(single.reason === 'Preempt' && names(single.victims)).toEqual(['v0', 'v1', 'v2']);
  const group = preemptForGroup(gang(made, 1), high, context(made, { disruptionOf }));
  expect(group.reason === 'Preempt' && names(group.victims)).toEqual(['v0', 'v1', 'v2']);
});

test('P-02 a victim group of mode single loses one pod', () => {
  const made = trio();
  const disruptionOf = () => ({ mode: 'single' as const });
  const single = preempt(made, pod('p', { cpu: 1, priority: 10 }), { disruptionOf });
  expect(single.reason === 'Preempt' && single.victims).toHaveLength(1);
  const group = preemptForGroup(gang(made, 1), high, context(made, { disruptionOf }));
  expect(group.reason === 'Preempt' && group.victims).toHaveLength(1);
});

test("P-02 a victim group's own priority rules over its members'", () => {
  const disruptionOf = () => ({ mode: 'single' as const, priority: 100 });
  expect(preempt(trio(), pod('p', { cpu: 1, priority: 10 }), { disruptionOf }).reason).toBe('NoVictims');
});

const protects =
  (...protectedNames: string[]) =>
  (): ChargeBudgets =>
  (pods) =>
    pods.some(({ name }) => protectedNames.includes(name));

test('P-03 of equal victims the one without a budget goes', () => {
  const made = cluster(
    [node('a', { cpu: 1 }), node('b', { cpu: 1 })],
    [
      [low('guarded'), 'a'],
      [low('plain'), 'b'],
    ],
  );
  const openBudgets = protects('guarded');
  const single = preempt(made, pod('p', { cpu: 1, priority: 10 }), { openBudgets });
  expect(single.reason === 'Preempt' && names(single.victims)).toEqual(['plain']);
});

test('P-03 on one node a group spares the protected pod too', () => {
  const made = cluster(
    [node('a', { cpu: 2 })],
    [
      [low('guarded'), 'a'],
      [low('plain'), 'a'],
    ],
  );
  const group = preemptForGroup(gang(made, 1), high, context(made, { openBudgets: protects('guarded') }));
  expect(group.reason === 'Preempt' && names(group.victims)).toEqual(['plain']);
});

test('P-03 a protected pod goes when no other will do', () => {
  const made = cluster([node('a', { cpu: 1 })], [[low('guarded'), 'a']]);
  const single = preempt(made, pod('p', { cpu: 1, priority: 10 }), { openBudgets: protects('guarded') });
  expect(single.reason === 'Preempt' && names(single.victims)).toEqual(['guarded']);
});

test('P-04 a preemptor with policy Never removes nobody', () => {
  const made = cluster([node('a', { cpu: 1 })], [[low('l'), 'a']]);
  expect(preempt(made, pod('p', { cpu: 1, priority: 10, preemptionPolicy: 'Never' })).reason).toBe('PolicyNever');
  expect(preemptForGroup(gang(made, 1, { preemptionPolicy: 'Never' }), high, context(made)).reason).toBe('PolicyNever');
});

test('preemptForPod() spares the more important and takes the least important victim', () => {
  const made = cluster(
    [node('a', { cpu: 2 })],
    [
      [low('l1', { priority: 1 }), 'a'],
      [low('l5', { priority: 5 }), 'a'],
    ],
  );
  const answer = preempt(made, pod('p', { cpu: 1, priority: 10 }));
  expect(answer.reason === 'Preempt' && names(answer.victims)).toEqual(['l1']);
});

test('preemptForPod() prefers the node whose victims matter least, then the one with fewer', () => {
  const made = cluster(
    [node('dear', { cpu: 1 }), node('many', { cpu: 1 }), node('cheap', { cpu: 1 })],
    [
      [low('d', { priority: 5 }), 'dear'],
      [low('m1', { cpu: '500m' }), 'many'],
      [low('m2', { cpu: '500m' }), 'many'],
      [low('c'), 'cheap'],
    ],
  );
  const answer = preempt(made, pod('p', { cpu: 1, priority: 10 }));
  expect(answer.reason === 'Preempt' && answer.node).toBe('cheap');
});

test('preemptForPod() waits while the victims of its promised node are leaving', () => {
  const made = cluster([node('a', { cpu: 1 })], [[low('l', { deleting: true }), 'a']]);
  made.nominate(facts(made, pod('p', { cpu: 1, priority: 10 })), 'a');
  expect(preempt(made, pod('p', { cpu: 1, priority: 10 })).reason).toBe('VictimsLeaving');
});

test('preemptForPod() says what preemption could not do on which nodes', () => {
  const made = cluster(
    [node('a', { cpu: 1 }), node('b', { unschedulable: true })],
    [[low('l', { priority: 20 }), 'a']],
  );
  const answer = preempt(made, pod('p', { cpu: 1, priority: 10 }));
  expect(answer.reason === 'NoVictims' && answer.message).toBe(
    'preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
  );
});
