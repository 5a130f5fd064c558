import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { gangOf, markLeaderWorkerPod } from '../../../api/lws/pod-marks.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import { decideSetGang, GANG_ANNOTATION } from '../../../decisions/group-making/index.ts';
import { leaderStatefulSet, revisionOf, workerStatefulSet } from './desired.ts';
import { computeMinimum } from './ensure-gangs.ts';

type Spec = NonNullable<LeaderWorkerSet['spec']>;
const container = { containers: [{ name: 'c' }] };
const lws = (gang?: string, spec: Partial<Spec> = {}): LeaderWorkerSet => ({
  metadata: { name: 'llm', uid: 'u', annotations: gang === undefined ? {} : { [GANG_ANNOTATION]: gang } },
  spec: { leaderWorkerTemplate: { size: 3, workerTemplate: { spec: container } }, ...spec },
});
const templates = (leader: object, worker: object): Partial<Spec> => ({
  leaderWorkerTemplate: {
    size: 3,
    leaderTemplate: { spec: { ...container, ...leader } },
    workerTemplate: { spec: { ...container, ...worker } },
  },
});

const cases: [name: string, given: LeaderWorkerSet, want: object][] = [
  ['leaves sets alone that do not ask', lws(), { reason: 'NotAsked' }],
  ['takes no for an answer', lws('false'), { reason: 'NotAsked' }],
  ['takes whole groups', lws('true'), { reason: 'Gang', minCount: 3 }],
  ['reads the field', lws(undefined, { scheduling: {} }), { reason: 'Gang', minCount: 3 }],
  ['takes a smaller minimum', lws('2'), { reason: 'Gang', minCount: 2 }],
  ['never asks for more than a group has', lws('9'), { reason: 'Gang', minCount: 3 }],
  ['says when it cannot read the annotation', lws('many'), { reason: 'Unreadable' }],
  [
    'respects a group in a template',
    lws('true', templates({}, { schedulingGroup: { podGroupName: 'g' } })),
    { reason: 'TemplateHasGroup' },
  ],
  [
    'refuses gangs of two priorities',
    lws('true', templates({ priorityClassName: 'high' }, {})),
    { reason: 'DifferentPriorities' },
  ],
];
for (const [name, given, want] of cases)
  test(`decideSetGang() ${name}`, () => expect(decideSetGang(given)).toEqual(want));

const type = {
  group: 'leaderworkerset.x-k8s.io',
  version: 'v1',
  kind: 'LeaderWorkerSet',
  plural: 'leaderworkersets',
  namespaced: true,
};

function leaderOf(set: LeaderWorkerSet, drawn: number): Pod {
  const { template } = leaderStatefulSet(set, { partition: 0, revision: 'r1', type }).spec ?? {};
  const leader: Pod = {
    metadata: { ...template?.metadata, name: 'llm-2', namespace: 'default', uid: 'leader' },
    spec: { containers: [], ...template?.spec },
  };
  markLeaderWorkerPod(leader, 'default', () => drawn);
  return leader;
}

test('markLeaderWorkerPod() gives every leader of a set of gangs a PodGroup no leader before it had', () => {
  const [first, second] = [gangOf(leaderOf(lws('true'), 0)), gangOf(leaderOf(lws('true'), 0.9))];
  expect(first).toMatch(/^llm-[a-z0-9]+\.[a-z0-9]{5}-2-r1$/);
  expect(second).not.toBe(first);
  expect(gangOf(leaderOf(lws(), 0))).toBeUndefined();
});

test('workerStatefulSet() puts the workers into the gang of their leader', () => {
  const leader = leaderOf(lws('true'), 0);
  const { template } = workerStatefulSet(lws('true'), leader).spec ?? {};
  expect(template?.spec?.schedulingGroup).toEqual({ podGroupName: gangOf(leader) });
  expect(workerStatefulSet(lws(), leaderOf(lws(), 0)).spec?.template?.spec?.schedulingGroup).toBeUndefined();
});

test('revisionOf() changes when a set becomes one of gangs, not with the minimum', () => {
  expect(revisionOf(lws('true'))).not.toBe(revisionOf(lws()));
  expect(revisionOf(lws('2'))).toBe(revisionOf(lws('true')));
});

test('computeMinimum() lets a leader go first where workers wait for it', () => {
  const group = (ready: boolean, size: string) => {
    const leader = leaderOf(lws('true'), 0);
    leader.metadata.annotations = { ...leader.metadata.annotations, [LWS.size]: size };
    leader.status = { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
    return { index: 2, leader, workers: [], workerSet: undefined, revision: 'r1' };
  };
  const waits = lws('true', { startupPolicy: 'LeaderReady' });
  expect(computeMinimum(waits, group(false, '3'))).toBe(1);
  expect(computeMinimum(waits, group(true, '3'))).toBe(3);
  expect(computeMinimum(lws('true'), group(false, '3'))).toBe(3);
  // An update to another size does not change what groups of the old size need.
  expect(computeMinimum(lws('true'), group(false, '4'))).toBe(4);
});
