import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { fromKruise, type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import { groupKeyOf, markLeaderWorkerPod } from '../../../api/lws/pod-marks.ts';
import { leaderStatefulSet, revisionOf, sizeOf, workerStatefulSet } from './desired.ts';
import { computeRollout, gatherGroups, isGroupReady, recreateReason, restartPolicyOf } from './groups.ts';

const lws = (change: Partial<NonNullable<LeaderWorkerSet['spec']>> = {}): LeaderWorkerSet => ({
  metadata: { name: 'llm', namespace: 'default', uid: 'u' },
  spec: {
    replicas: 3,
    leaderWorkerTemplate: { size: 3, workerTemplate: { spec: { containers: [{ name: 'c', image: 'app:1' }] } } },
    ...change,
  },
});

const member = (
  group: number,
  worker: number,
  { ready = true, restarts = 0, deleting = false, revision = 'new', phase = 'Running' } = {},
): Pod => ({
  metadata: {
    name: worker === 0 ? `llm-${group}` : `llm-${group}-${worker}`,
    labels: {
      [LWS.name]: 'llm',
      [LWS.groupIndex]: String(group),
      [LWS.workerIndex]: String(worker),
      [LWS.revision]: revision,
    },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:01:00Z' } : {}),
  },
  status: {
    phase,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: [{ name: 'c', image: '', imageID: '', ready, restartCount: restarts }],
  },
});

const group = (index: number, change: Parameters<typeof member>[2] = {}): Pod[] =>
  [0, 1, 2].map((worker) => member(index, worker, change));
const groupsOf = (...pods: Pod[][]) => gatherGroups(pods.flat(), []);

test('gatherGroups() joins a leader with its workers', () => {
  const [first] = groupsOf(group(0), group(1));
  expect(first).toMatchObject({ index: 0, revision: 'new' });
  expect(first?.workers).toHaveLength(2);
});

test('isGroupReady() needs the leader and every worker', () => {
  const [whole] = groupsOf(group(0));
  const [short] = groupsOf([member(0, 0), member(0, 1), member(0, 2, { ready: false })]);
  expect([whole, short].map((one) => one && isGroupReady(one, 3))).toEqual([true, false]);
});

const restartCases: [name: string, pods: Pod[], policy: string | undefined, want: string | undefined][] = [
  ['leaves a healthy group alone', group(0), undefined, undefined],
  [
    'replaces the group when a worker restarts',
    [member(0, 0), member(0, 1, { restarts: 1 })],
    undefined,
    'PodRestarted',
  ],
  [
    'replaces the group when a worker is deleted',
    [member(0, 0), member(0, 1, { deleting: true })],
    undefined,
    'PodDeleted',
  ],
  ['does nothing under None', [member(0, 0), member(0, 1, { restarts: 1 })], 'None', undefined],
  [
    'does nothing while the leader is going',
    [member(0, 0, { deleting: true }), member(0, 1, { restarts: 1 })],
    undefined,
    undefined,
  ],
  [
    'waits for all to start under RecreateGroupAfterStart',
    [member(0, 0), member(0, 1, { restarts: 1 }), member(0, 2, { phase: 'Pending' })],
    'RecreateGroupAfterStart',
    undefined,
  ],
];
for (const [name, pods, policy, want] of restartCases) {
  test(`recreateReason() ${name}`, () => {
    const [found] = groupsOf(pods);
    expect(found && recreateReason(found, policy)).toBe(want);
  });
}

const computePartition = (set: LeaderWorkerSet, groups: ReturnType<typeof groupsOf>, revision: string): number =>
  computeRollout(set, groups, { revision }).partition;

test('computeRollout() replaces one group at a time from the top, and only while the others serve', () => {
  const old = { revision: 'old' };
  expect(computePartition(lws(), groupsOf(group(0, old), group(1, old), group(2, old)), 'new')).toBe(2);
  expect(computePartition(lws(), groupsOf(group(0, old), group(1, old), group(2, { ready: false })), 'new')).toBe(2);
  expect(computePartition(lws(), groupsOf(group(0, old), group(1, old), group(2)), 'new')).toBe(1);
  expect(computePartition(lws(), groupsOf(group(0), group(1), group(2)), 'new')).toBe(0);
});

test('computeRollout() honours maxUnavailable and the floor', () => {
  const old = [group(0, { revision: 'old' }), group(1, { revision: 'old' }), group(2, { revision: 'old' })];
  const rollout = (configuration: object) => lws({ rolloutStrategy: { rollingUpdateConfiguration: configuration } });
  expect(computePartition(rollout({ maxUnavailable: 2 }), groupsOf(...old), 'new')).toBe(1);
  expect(computePartition(rollout({ maxUnavailable: 3, partition: 2 }), groupsOf(...old), 'new')).toBe(2);
});

test('computeRollout() adds groups for the time of an update, and replaces one more for each that serves', () => {
  const old = { revision: 'old' };
  const configuration = { maxSurge: 1, maxUnavailable: 0 };
  const set = lws({ rolloutStrategy: { rollingUpdateConfiguration: configuration } });
  const step = (surging: boolean, ...pods: Pod[][]) =>
    computeRollout(set, groupsOf(...pods), { revision: 'new', surging });
  expect(step(false, group(0, old), group(1, old), group(2, old))).toEqual({ partition: 3, replicas: 4 });
  const starting = group(3, { ready: false });
  expect(step(true, group(0, old), group(1, old), group(2, old), starting)).toEqual({ partition: 3, replicas: 4 });
  expect(step(true, group(0, old), group(1, old), group(2, old), group(3))).toEqual({ partition: 2, replicas: 4 });
  expect(step(true, group(0, old), group(1), group(2), group(3))).toEqual({ partition: 0, replicas: 4 });
  expect(step(true, group(0, { ready: false }), group(1), group(2), group(3))).toEqual({ partition: 0, replicas: 4 });
  expect(step(true, group(0), group(1), group(2), group(3))).toEqual({ partition: 0, replicas: 3 });
});

test('computeRollout() keeps no group that a smaller set has no place for', () => {
  const set = lws({ rolloutStrategy: { rollingUpdateConfiguration: { maxSurge: '50%' } } });
  const broken = groupsOf(group(0, { ready: false }), group(1), group(2), group(3));
  expect(computeRollout(set, broken, { revision: 'new' })).toEqual({ partition: 0, replicas: 3 });
});

test('23.3: recreateReason() waits under RecreateGroupAfterStart until no member is missing', () => {
  const [short] = groupsOf([member(0, 0), member(0, 1, { restarts: 1 })]);
  const [whole] = groupsOf([member(0, 0), member(0, 1, { restarts: 1 }), member(0, 2)]);
  const reasons = [short, whole].map((one) => one && recreateReason(one, 'RecreateGroupAfterStart', 3));
  expect(reasons).toEqual([undefined, 'PodRestarted']);
});

const policies: [policy: string | undefined, annotated: boolean, want: string][] = [
  [undefined, false, 'RecreateGroupOnPodRestart'],
  [undefined, true, 'RecreateGroupAfterStart'],
  ['RecreateGroupOnPodRestart', true, 'RecreateGroupAfterStart'],
  ['RecreateGroupAfterStart', false, 'RecreateGroupAfterStart'],
  ['None', true, 'None'],
  ['Default', false, 'Default'],
];
for (const [restartPolicy, annotated, want] of policies) {
  test(`23.3: restartPolicyOf() is ${want} for ${restartPolicy}${annotated ? ' with the annotation' : ''}`, () => {
    const set = lws({ leaderWorkerTemplate: { restartPolicy } });
    if (annotated) set.metadata.annotations = { [LWS.recreateAfterStart]: '' };
    expect(restartPolicyOf(set)).toBe(want);
  });
}

const revisionCases: [name: string, change: Partial<NonNullable<LeaderWorkerSet['spec']>>, isOther: boolean][] = [
  ['subgroups', { leaderWorkerTemplate: { ...lws().spec?.leaderWorkerTemplate, subGroupPolicy: {} } }, true],
  ['a Service for each group', { networkConfig: { subdomainPolicy: 'UniquePerReplica' } }, true],
  ['one Service, said aloud', { networkConfig: { subdomainPolicy: 'Shared' } }, false],
  ['another partition', { rolloutStrategy: { rollingUpdateConfiguration: { partition: 1 } } }, false],
  ['claims', { leaderWorkerTemplate: { ...lws().spec?.leaderWorkerTemplate, volumeClaimTemplates: [] } }, false],
];
for (const [name, change, isOther] of revisionCases) {
  test(`23.3: revisionOf() with ${name} is ${isOther ? 'another' : 'the same'}`, () => {
    expect(revisionOf(lws(change)) !== revisionOf(lws())).toBe(isOther);
  });
}

test('revisionOf() changes with the templates and the size, not with replicas', () => {
  expect(revisionOf(lws({ replicas: 9 }))).toBe(revisionOf(lws()));
  expect(revisionOf(lws({ leaderWorkerTemplate: { size: 4 } }))).not.toBe(revisionOf(lws()));
});

test('leaderStatefulSet() and workerStatefulSet() carry the marks other software reads', () => {
  const type = {
    group: 'leaderworkerset.x-k8s.io',
    version: 'v1',
    kind: 'LeaderWorkerSet',
    plural: 'leaderworkersets',
    namespaced: true,
  };
  const leaders = leaderStatefulSet(lws(), { partition: 0, revision: 'r', type });
  expect(leaders.metadata.annotations?.[LWS.replicas]).toBe('3');
  expect(leaders.spec?.template?.metadata?.labels).toMatchObject({
    [LWS.name]: 'llm',
    [LWS.workerIndex]: '0',
    [LWS.revision]: 'r',
  });
  expect(leaders.spec?.template?.metadata?.annotations?.[LWS.size]).toBe('3');
  const leader = { ...member(1, 0), metadata: { ...member(1, 0).metadata, namespace: 'default', uid: 'leader' } };
  const workers = workerStatefulSet(lws(), leader);
  expect(workers.spec).toMatchObject({ replicas: 2, ordinals: { start: 1 } });
  expect(workers.metadata).toMatchObject({ name: 'llm-1', ownerReferences: [{ kind: 'Pod', uid: 'leader' }] });
  expect(workers.spec?.template?.metadata?.labels?.[LWS.groupKey]).toBe(groupKeyOf('default', 'llm-1'));
});

test('markLeaderWorkerPod() numbers leaders by group and workers by index', () => {
  const leader: Pod = {
    metadata: { name: 'llm-2', labels: { [LWS.name]: 'llm', [LWS.workerIndex]: '0' } },
    spec: { containers: [] },
  };
  expect(markLeaderWorkerPod(leader, 'default', () => 0)).toBe(true);
  expect(leader.metadata.labels).toMatchObject({
    [LWS.groupIndex]: '2',
    [LWS.groupKey]: groupKeyOf('default', 'llm-2'),
  });
  const worker: Pod = {
    metadata: { name: 'llm-2-1', labels: { [LWS.name]: 'llm', [LWS.groupIndex]: '2' } },
    spec: { containers: [] },
  };
  markLeaderWorkerPod(worker, 'default', () => 0);
  expect(worker.metadata.labels?.[LWS.workerIndex]).toBe('1');
  expect(markLeaderWorkerPod({ metadata: { name: 'web-1' } }, 'default', () => 0)).toBe(false);
});

test('18.10: markLeaderWorkerPod() leaves a leader in the group that it names', () => {
  const labels = { [LWS.name]: 'llm', [LWS.workerIndex]: '0', [LWS.groupIndex]: '1', [LWS.groupKey]: 'key' };
  const leader: Pod = { metadata: { name: 'p1-0', labels } };
  markLeaderWorkerPod(leader, 'default', () => 0);
  expect(leader.metadata.labels).toEqual(labels);
});

test('fromKruise() a set that names no size has groups of three', () => {
  expect(sizeOf(fromKruise({ metadata: { name: 'llm' }, spec: { replicas: 3, workerTemplate: {} } }))).toBe(3);
});
