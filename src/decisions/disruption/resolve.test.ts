import { expect, test } from 'vitest';
import { pod, type PodOptions } from './fixtures.ts';
import { type GroupBy, readGroupBy, resolvePod } from './group-by.ts';
import { type GroupSource, readPodGroup, readWorkload } from './group-facts.ts';
import { lookupIn } from './recount.ts';

const workload = (name: string, replicas = 1, extra: object = { policy: { gang: { minCount: 3 } } }) =>
  readWorkload({ metadata: { name }, spec: { podGroups: [{ name: 'p', replicas, ...extra }] } } as never);
const podGroup = (name: string, spec: object) => readPodGroup({ metadata: { name }, spec } as never);
const gang = { schedulingPolicy: { gang: { minCount: 4 } } };

function resolve(
  options: PodOptions,
  {
    groupBy,
    podGroups = [],
    sources = new Map(),
    workloads = [],
  }: {
    groupBy?: GroupBy;
    podGroups?: ReturnType<typeof podGroup>[];
    sources?: Map<string, GroupSource>;
    workloads?: ReturnType<typeof workload>[];
  } = {},
) {
  return resolvePod(groupBy, pod('x', options), lookupIn({ podGroups, sources, workloads }));
}

const lws = (name: string, index: string, size?: string): PodOptions => ({
  labels: { 'leaderworkerset.sigs.k8s.io/name': name, 'leaderworkerset.sigs.k8s.io/group-index': index },
  ...(size && { annotations: { 'leaderworkerset.sigs.k8s.io/size': size } }),
});

test('R-01 a scheduling group is one unit; a LeaderWorkerSet says how many there should be', () => {
  const options = { ...lws('set', '0'), spec: { schedulingGroup: { podGroupName: 'g' } } };
  const sources = new Map([['LeaderWorkerSet/set', { replicas: 5 }]]);
  expect(resolve(options, { podGroups: [podGroup('g', gang)], sources })).toMatchObject({
    kind: 'gang',
    unit: 'PodGroup/g',
    minCount: 4,
    replicas: 5,
  });
});

test('R1 counts the live PodGroups of one template, in the spelling of each version', () => {
  const podGroups = [
    podGroup('a', { ...gang, workloadRef: { workloadName: 'w', templateName: 't' } }),
    podGroup('b', { ...gang, podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } } }),
    readPodGroup({
      metadata: { name: 'c', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { ...gang, workloadRef: { workloadName: 'w', templateName: 't' } },
    } as never),
  ];
  expect(resolve({ spec: { schedulingGroup: { podGroupName: 'a' } } }, { podGroups })).toMatchObject({
    family: 'Template/w/t',
    replicas: 2,
  });
});

test('R-02 a replica key makes another unit of the same family', () => {
  const workloads = [workload('w', 2)];
  const bare = resolve({ spec: { workloadRef: { name: 'w', podGroup: 'p' } } }, { workloads });
  const keyed = resolve(
    { spec: { workloadRef: { name: 'w', podGroup: 'p', podGroupReplicaKey: '1' } } },
    { workloads },
  );
  expect(bare).toMatchObject({ family: 'Workload/w/p', unit: 'Workload/w/p/', replicas: 2 });
  expect(keyed).toMatchObject({ family: 'Workload/w/p', unit: 'Workload/w/p/1' });
});

test('R-03 the draft follows PodGroup to Workload and never falls back to labels', () => {
  const options = { ...lws('set', '0', '4'), spec: { workloadRef: { name: 'w', podGroupName: 'g' } } };
  const podGroups = [podGroup('g', { workloadRef: { name: 'w' }, podGroupTemplateName: 'p' })];
  expect(resolve(options, { podGroups, workloads: [workload('w')] })).toMatchObject({
    unit: 'PodGroup/g',
    family: 'Template/w/p',
    minCount: 3,
  });
  expect(resolve(options, { podGroups })).toMatchObject({ kind: 'broken', reason: 'WorkloadNotFound' });
  expect(resolve(options)).toMatchObject({ kind: 'broken', reason: 'PodGroupNotFound' });
});

test('R-04 workloadReference indexes are units of one family', () => {
  const at = (podGroupReplicaIndex: number) =>
    resolve(
      { spec: { workloadReference: { name: 'w', podGroup: 'p', podGroupReplicaIndex } } },
      { workloads: [workload('w', 2)] },
    );
  expect([at(0), at(1)]).toMatchObject([{ unit: 'Workload/w/p/0' }, { unit: 'Workload/w/p/1' }]);
});

test('R-05 the shape without an index takes it from labels, or is incomplete', () => {
  const spec = { workload: { name: 'w', podGroup: 'p' } };
  expect(resolve({ ...lws('set', '1'), spec }, { workloads: [workload('w', 2)] })).toMatchObject({
    unit: 'Workload/w/p/1',
  });
  expect(resolve({ spec }, { workloads: [workload('w', 2)] })).toMatchObject({
    kind: 'broken',
    reason: 'IncompleteReference',
  });
  expect(resolve({ spec }, { workloads: [workload('w', 1)] })).toMatchObject({ kind: 'gang', unit: 'Workload/w/p/' });
});

test('R-06 a reference without a name is none', () => {
  expect(resolve({ spec: { workloadReference: { name: '', podGroup: 'p' } } })).toBeUndefined();
});

test('R-07 a LeaderWorkerSet group needs its whole size', () => {
  expect(resolve(lws('set', '0', '4'), { groupBy: { kind: 'leaderWorkerSet' } })).toMatchObject({ minCount: 4 });
});

test('R-08 two sets with the same index are two units', () => {
  const groupBy = { kind: 'leaderWorkerSet' } as const;
  const units = [resolve(lws('a', '0', '2'), { groupBy }), resolve(lws('b', '0', '2'), { groupBy })];
  expect(units).toMatchObject([{ unit: 'LeaderWorkerSet/a/0' }, { unit: 'LeaderWorkerSet/b/0' }]);
});

test('R-09 JobSet levels: a family of jobs, or one unit for the set', () => {
  const prefix = 'jobset.sigs.k8s.io/';
  const labels = {
    [`${prefix}jobset-name`]: 's',
    [`${prefix}replicatedjob-name`]: 'r',
    [`${prefix}replicatedjob-replicas`]: '3',
    [`${prefix}job-index`]: '1',
    'batch.kubernetes.io/job-name': 's-r-1',
  };
  const sources = new Map([['Job/s-r-1', { size: 4 }]]);
  expect(resolve({ labels }, { groupBy: { kind: 'jobSet', level: 'job' }, sources })).toMatchObject({
    unit: 'JobSet/s/r/1',
    replicas: 3,
    minCount: 4,
  });
  expect(resolve({ labels }, { groupBy: { kind: 'jobSet', level: 'jobset', minCount: 12 } })).toMatchObject({
    unit: 'JobSet/s',
    replicas: 1,
    minCount: 12,
  });
});

test('R-10 grouping by a label joins leader and workers of one set', () => {
  const groupBy = readGroupBy({
    'policy.quorate.dev/group-by': 'label:leaderworkerset.sigs.k8s.io/group-index',
    'policy.quorate.dev/group-min-count': '4',
  }) as GroupBy;
  const leader = resolve({ ...lws('set', '0'), owner: 'leaders' }, { groupBy });
  const worker = resolve({ ...lws('set', '0'), owner: 'workers' }, { groupBy });
  expect(leader).toEqual(worker);
  expect(leader).toMatchObject({ kind: 'gang', minCount: 4 });
});

test('R-11 pods of one controller with and without the group: a unit, a single pod, and no guess about the latter', () => {
  const spec = { schedulingGroup: { podGroupName: 'g' } };
  const podGroups = [podGroup('g', { schedulingPolicy: { gang: { minCount: 3 } } })];
  const grouped = resolve({ owner: 'job', spec }, { podGroups });
  expect(grouped).toMatchObject({ kind: 'gang', unit: 'PodGroup/g', minCount: 3 });
  expect(resolve({ owner: 'job' }, { podGroups })).toBeUndefined();
});

test('a group whose size nobody states is never guessed from the pods seen', () => {
  expect(resolve({ labels: { team: 'red' } }, { groupBy: { kind: 'label', key: 'team' } })).toMatchObject({
    kind: 'broken',
    reason: 'IncompleteReference',
  });
});

test('a mirror annotation stands in for a field the server dropped, and loses against the field', () => {
  const annotations = { 'groups.quorate.dev/workloadRef': '{"name":"w","podGroup":"p","podGroupReplicaKey":"7"}' };
  const workloads = [workload('w', 2)];
  expect(resolve({ annotations }, { workloads })).toMatchObject({ unit: 'Workload/w/p/7' });
  const spec = { workloadRef: { name: 'w', podGroup: 'p', podGroupReplicaKey: '1' } };
  expect(resolve({ annotations, spec }, { workloads })).toMatchObject({ unit: 'Workload/w/p/1' });
});

test('18.15: a pod linked by spec.workload may say which replica it belongs to', () => {
  const at = (podGroupReplicaIndex: number) =>
    resolve(
      { spec: { workload: { name: 'w', podGroup: 'p', podGroupReplicaIndex } } },
      { workloads: [workload('w', 10)] },
    );
  expect(at(0)).toMatchObject({
    kind: 'gang',
    unit: 'Workload/w/p/0',
    family: 'Workload/w/p',
    minCount: 3,
    replicas: 10,
  });
  expect(at(7)).toMatchObject({ kind: 'gang', unit: 'Workload/w/p/7' });
});
