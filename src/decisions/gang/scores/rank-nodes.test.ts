import { expect, test } from 'vitest';
import { cluster, facts, node, pod } from '../../placement/fixtures.ts';
import { findNode } from '../placement/find-node.ts';
import { ZONE } from '../../placement/cluster/node-facts.ts';

const best = (made: ReturnType<typeof cluster>, each: ReturnType<typeof pod>, group?: string) =>
  findNode(facts(made, each, group), made).node?.name;

test('pickBest() prefers the emptier node', () => {
  const made = cluster([node('full'), node('empty')], [[pod('x', { cpu: 3 }), 'full']]);
  expect(best(made, pod('p', { cpu: 1 }))).toBe('empty');
});

test('pickBest() follows preferred node affinity over an even load', () => {
  const made = cluster([node('liked', { labels: { disk: 'ssd' } }), node('empty')], [[pod('x', { cpu: 1 }), 'liked']]);
  const preferred = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 50, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
      ],
    },
  };
  expect(best(made, pod('p', { cpu: 1, affinity: preferred }))).toBe('liked');
});

test('pickBest() avoids a soft taint', () => {
  const taints = [{ key: 'k', effect: 'PreferNoSchedule' }];
  const made = cluster([node('tainted', { taints }), node('clean')], [[pod('x', { cpu: 2 }), 'clean']]);
  expect(best(made, pod('p', { cpu: 1 }))).toBe('clean');
});

test('pickBest() spreads the replicas of a controller over zones, then nodes', () => {
  const zone = (value: string) => ({ labels: { [ZONE]: value } });
  const made = cluster(
    [node('a1', zone('a')), node('a2', zone('a')), node('b1', zone('b'))],
    [[pod('r1', { owner: 'rs' }), 'a1']],
  );
  expect(best(made, pod('r2', { owner: 'rs' }))).toBe('b1');
  made.place(facts(made, pod('r2', { owner: 'rs' })), 'b1');
  expect(best(made, pod('r3', { owner: 'rs' }))).toBe('a2');
});

test('pickBest() draws the members of a group together', () => {
  const zone = (value: string) => ({ labels: { [ZONE]: value } });
  const made = cluster(
    [node('a1', zone('a')), node('b1', zone('b')), node('a2', { ...zone('a'), cpu: 8 })],
    [[pod('m1', { cpu: 3 }), 'a1', 'g']],
  );
  expect(best(made, pod('m2', { cpu: 1 }), 'g')).toBe('a1');
  expect(best(made, pod('m3', { cpu: 2 }), 'g')).toBe('a2');
});

test('pickBest() follows preferred pod anti-affinity', () => {
  const term = { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' };
  const affinity = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
    },
  };
  const made = cluster(
    [node('a'), node('b')],
    [
      [pod('x', { labels: { app: 'x' } }), 'a'],
      [pod('y', { cpu: 2 }), 'b'],
    ],
  );
  expect(best(made, pod('p', { affinity }))).toBe('b');
});

test('pickBest() evens out a soft topology spread', () => {
  const labels = { app: 'x' };
  const made = cluster(
    [node('a', { labels: { rack: '1' } }), node('b', { labels: { rack: '2' } })],
    [
      [pod('x', { labels }), 'a'],
      [pod('y', { cpu: 1 }), 'b'],
    ],
  );
  const topologySpreadConstraints = [
    { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: labels } },
  ];
  expect(best(made, pod('p', { labels, topologySpreadConstraints }))).toBe('b');
});
