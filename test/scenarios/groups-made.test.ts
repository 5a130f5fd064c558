/** Groups that the operator makes for owners that ask for them, as the reviews of their pods come. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { controllerReference } from '../../src/api/core/owner.ts';
import type { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import type { Job } from '../../src/api/generated/batch-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { PodGroup, Workload } from '../../src/api/generated/scheduling-v1beta1.ts';
import { type JobSet, jobSetType } from '../../src/api/jobset/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType, LWS } from '../../src/api/lws/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { jobType, podDisruptionBudgetType, podType, statefulSetType } from '../../src/api/resource-types.ts';
import { compositePodGroupType, podGroupType, workloadType } from '../../src/api/scheduling/index.ts';
import {
  ClusterGroupMaker,
  createGroupMakingController,
  type OwnerLookup,
  verdictOf,
} from '../../src/controllers/quorate/group-making/index.ts';
import { DisruptionIndex, FED_KINDS, JOBSET } from '../../src/decisions/disruption/index.ts';
import { type Components, openComponents } from '../../src/app/run-components.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { type LinkResult, type LinkWebhook, reviewLink, type ReviewResponse } from '../../src/webhook/index.ts';

const groups = podGroupType('v1beta1') as ResourceType<PodGroup>;
const workloads = workloadType('v1beta1') as ResourceType<Workload>;
const composites = compositePodGroupType() as ResourceType;
const ASKS = { 'groups.quorate.dev/create': 'true' };

let plane: ControlPlane;
let components: Components;
let link: LinkWebhook;
let kinds: { isNative: boolean } & Record<string, unknown>;
let results: LinkResult[];

beforeEach(async () => {
  plane = await startControlPlane();
  const { client, clock, transport } = plane;
  await client.create(builtinType('CustomResourceDefinition', 'apiextensions.k8s.io'), jobSetDefinition as KubeObject);
  components = openComponents({ transportFor: () => transport, clock, log: silentLogger });
  const { eventsFor, informers } = components;
  kinds = { version: 'v1beta1', workload: workloads, podGroup: groups, composite: composites, isNative: true };
  const maker = new ClusterGroupMaker({ client, informers, events: eventsFor('quorate'), kinds: kinds as never });
  const served = [jobSetType, leaderWorkerSetType, kruiseLeaderWorkerSetType] as ResourceType[];
  const lookup: OwnerLookup = { client, informers, abilities: maker.abilities, served };
  results = [];
  link = { maker, verdictOf: (pod) => verdictOf(lookup, pod), linked: (result) => results.push(result) };
  components.start([createGroupMakingController(maker, lookup)]);
  await settle();
});

afterEach(async () => {
  components.stop();
  await plane.stop();
});

/** Until the caches have seen everything, and the controller has nothing to do. */
async function settle(): Promise<void> {
  await components.informers.whenSynced();
  await plane.clock.advance(2000);
}

const jobSetDefinition: CustomResourceDefinition = {
  metadata: { name: 'jobsets.jobset.x-k8s.io' },
  spec: {
    group: 'jobset.x-k8s.io',
    names: { kind: 'JobSet', plural: 'jobsets', singular: 'jobset', listKind: 'JobSetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha2',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };
const job = (name: string, over: Partial<Job['metadata']> = {}, parallelism = 3): Job => ({
  metadata: { name, namespace: 'default', ...over },
  spec: { parallelism, completions: parallelism, template },
});
const podIn = (name: string, owner: KubeObject, type: ResourceType<never>, labels: Record<string, string>): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    labels,
    ownerReferences: [controllerReference(type as ResourceType, owner as never)],
  },
  spec: { containers: [{ name: 'c', image: 'c:1' }] },
});
const podOf = (owner: Job, at = 0): Pod =>
  podIn(`${owner.metadata.name}-${at}`, owner as KubeObject, jobType as ResourceType<never>, {
    'batch.kubernetes.io/controller-uid': owner.metadata.uid ?? '',
  });

/** What the API server asks about a new pod. */
const ask = (pod: Pod, dryRun = false): Promise<ReviewResponse> =>
  reviewLink(link, {
    uid: '1',
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: 'default',
    object: pod as unknown as Record<string, unknown>,
    dryRun,
  });

/** Asks, and makes the pod as the answer has it. */
async function make(pod: Pod): Promise<string | undefined> {
  const { allowed, patch } = await ask(pod);
  expect(allowed).toBe(true);
  const steps = JSON.parse(Buffer.from(patch ?? '', 'base64').toString() || '[]') as {
    value: { podGroupName: string };
  }[];
  const [{ value } = { value: undefined }] = steps;
  const spec = { ...pod.spec, containers: pod.spec?.containers ?? [], ...(value && { schedulingGroup: value }) };
  await plane.client.create(podType, { ...pod, spec });
  await settle();
  return value?.podGroupName;
}

const made = async (): Promise<PodGroup[]> => (await plane.client.list(groups, { namespace: 'default' })).items;

test('a Job that asks gets its groups with the first pod; one that does not gets none', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  const other = await client.create(jobType, job('other'));
  const first = await make(podOf(asking, 0));
  expect(await make(podOf(asking, 1))).toBe(first);
  expect(await make(podOf(other))).toBeUndefined();
  const [group, ...more] = await made();
  expect(more).toEqual([]);
  expect(group?.spec?.schedulingPolicy).toEqual({ gang: { minCount: 3 } });
  expect(group?.metadata.ownerReferences?.map(({ controller = false, kind }) => [kind, controller])).toEqual([
    ['Job', true],
    ['Workload', false],
  ]);
  expect(results).toEqual(['Ready', 'Ready']);
});

test('a dry run is told the group and makes none', async () => {
  const asking = await plane.client.create(jobType, job('train', { annotations: ASKS }));
  expect((await ask(podOf(asking), true)).patch).toBeDefined();
  expect(await made()).toEqual([]);
});

test('a Job with pods in no group has started without, and stays so', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  await client.create(podType, podOf(asking, 0));
  expect(await make(podOf(asking, 1))).toBeUndefined();
  expect(results).toEqual(['StartedWithout']);
  expect(await made()).toEqual([]);
});

test('GC-02 a Job whose own controller makes groups is left to it', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  const ownerReferences = [controllerReference(jobType as ResourceType, asking)];
  await client.create(groups, {
    metadata: { name: 'theirs', namespace: 'default', ownerReferences },
    spec: { schedulingPolicy: { basic: {} } },
  });
  await settle();
  expect(await make(podOf(asking))).toBeUndefined();
  expect(results).toEqual(['MadeByOthers']);
});

test('GC-06 a pod made while its PodGroup is going is refused, and joins the next one', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  const name = (await make(podOf(asking, 0))) ?? '';
  const before = await client.get(groups, { namespace: 'default', name });
  await client.delete(groups, { namespace: 'default', name });
  await settle();
  const refused = await ask(podOf(asking, 1));
  expect(refused).toMatchObject({ allowed: false, status: { code: 429, details: { retryAfterSeconds: 1 } } });
  // The last member goes, and with it what held the group.
  await client.delete(podType, { namespace: 'default', name: 'train-0' }, { gracePeriodSeconds: 0 });
  await client.patch(
    groups,
    { namespace: 'default', name },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await settle();
  expect(await make(podOf(asking, 1))).toBe(name);
  expect((await client.get(groups, { namespace: 'default', name })).metadata.uid).not.toBe(before.metadata.uid);
});

test('a Job that grows moves the minimum of its group and of its Workload', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  const name = (await make(podOf(asking))) ?? '';
  await client.patch(
    jobType,
    { namespace: 'default', name: 'train' },
    { type: 'merge', body: { spec: { parallelism: 2 } } },
  );
  await settle();
  const group = await client.get(groups, { namespace: 'default', name });
  expect(group.spec?.schedulingPolicy).toEqual({ gang: { minCount: 2 } });
  const [workload] = (await client.list(workloads, { namespace: 'default' })).items;
  expect(workload?.spec?.podGroupTemplates?.[0]?.schedulingPolicy).toEqual({ gang: { minCount: 2 } });
});

test('a group of our kinds that vanishes while pods name it is made again: nothing protects it', async () => {
  const { client } = plane;
  const asking = await client.create(jobType, job('train', { annotations: ASKS }));
  const name = (await make(podOf(asking))) ?? '';
  kinds.isNative = false;
  await client.delete(groups, { namespace: 'default', name });
  await client.patch(
    groups,
    { namespace: 'default', name },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await settle();
  expect((await made()).map(({ metadata }) => [metadata.name, metadata.deletionTimestamp])).toEqual([
    [name, undefined],
  ]);
});

/** A JobSet of two replicated Jobs, with the Jobs that its controller makes. */
async function makeJobSet(annotations: Record<string, string>): Promise<Job[]> {
  const { client } = plane;
  const replicatedJobs = [
    { name: 'driver', replicas: 1, template: { spec: { parallelism: 1, template } } },
    { name: 'workers', replicas: 2, template: { spec: { parallelism: 2, template } } },
  ];
  const set = await client.create(jobSetType, {
    metadata: { name: 'train', namespace: 'default', annotations },
    spec: { replicatedJobs },
  } as JobSet);
  const jobs: Job[] = [];
  for (const { name, replicas, template: child } of replicatedJobs) {
    for (let at = 0; at < replicas; at += 1) {
      const labels = { [JOBSET.name]: 'train', [JOBSET.replicatedJob]: name, [JOBSET.jobIndex]: String(at) };
      const ownerReferences = [controllerReference(jobSetType as ResourceType, set)];
      const over = { labels, ownerReferences };
      jobs.push(await client.create(jobType, job(`train-${name}-${at}`, over, child.spec.parallelism)));
    }
  }
  return jobs;
}

test('GC-03 a JobSet of two replicated Jobs gets one PodGroup for each of its Jobs', async () => {
  const jobs = await makeJobSet(ASKS);
  for (const one of jobs) await make(podOf(one));
  const found = await made();
  const terms = found.map(({ spec }) => `${spec?.workloadRef?.templateName} ${spec?.schedulingPolicy.gang?.minCount}`);
  expect(terms.toSorted()).toEqual(['driver 1', 'workers 2', 'workers 2']);
  const owners = new Set(found.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid));
  expect(owners).toEqual(new Set(jobs.map(({ metadata }) => metadata.uid)));
  const [workload, ...others] = (await plane.client.list(workloads, { namespace: 'default' })).items;
  expect(others).toEqual([]);
  expect(workload?.spec?.podGroupTemplates?.map(({ name }) => name)).toEqual(['driver', 'workers']);
  expect(workload?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'JobSet', controller: true });
});

test('GC-03 a JobSet that is one unit gets a tree over them', async () => {
  const jobs = await makeJobSet({ ...ASKS, 'groups.quorate.dev/unit': 'jobset' });
  for (const one of jobs) await make(podOf(one));
  const [tree, ...others] = (await plane.client.list(composites, { namespace: 'default' })).items as unknown as {
    metadata: { name: string };
    spec: object;
  }[];
  expect(others).toEqual([]);
  expect(tree?.spec).toMatchObject({ schedulingPolicy: { gang: { minGroupCount: 3 } }, disruptionMode: { all: {} } });
  expect(new Set((await made()).map(({ spec }) => spec?.parentCompositePodGroupName))).toEqual(
    new Set([tree?.metadata.name]),
  );
});

const spellings = [
  [
    'leaderworkerset.x-k8s.io',
    leaderWorkerSetType,
    { replicas: 3, leaderWorkerTemplate: { size: 4, workerTemplate: template } },
  ],
  [
    'apps.kruise.io',
    kruiseLeaderWorkerSetType,
    { replicas: 3, size: 4, workerTemplate: template, leaderTemplate: template },
  ],
] as const;

for (const [group, type, spec] of spellings) {
  test(`GC-04 a LeaderWorkerSet of ${group} with 3 replicas of 4 gets 3 groups, and budgets expect 3`, async () => {
    const { client } = plane;
    const found = await client.create(
      type as ResourceType,
      {
        metadata: { name: 'chat', namespace: 'default', annotations: ASKS },
        spec,
      } as KubeObject,
    );
    await makeReplicas(found, type as ResourceType<never>);
    expect(
      (await made()).map(({ metadata, spec: { schedulingPolicy } = { schedulingPolicy: {} } }) => [
        metadata.labels?.[LWS.groupIndex],
        schedulingPolicy.gang?.minCount,
      ]),
    ).toEqual([
      ['0', 4],
      ['1', 4],
      ['2', 4],
    ]);
    const pods = (await client.list(podType, { namespace: 'default' })).items;
    expect(new Set(pods.map((pod) => pod.spec?.schedulingGroup?.podGroupName)).size).toBe(3);
    expect(await expectedUnits()).toBe(3);

    // Two replicas less: a group goes after its last pod, and no sooner.
    const scaled = { type: 'merge', body: { spec: { replicas: 1 } } } as const;
    await client.patch(type as ResourceType, { namespace: 'default', name: 'chat' }, scaled);
    await settle();
    expect((await made()).filter(({ metadata }) => metadata.deletionTimestamp)).toEqual([]);
    for (const { metadata } of pods.filter(({ metadata: { labels } }) => labels?.[LWS.groupIndex] === '2')) {
      await client.delete(podType, { namespace: 'default', name: metadata.name ?? '' }, { gracePeriodSeconds: 0 });
    }
    await settle();
    const left = (await made()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left.map(({ metadata }) => metadata.labels?.[LWS.groupIndex])).toEqual(['0', '1']);
  });
}

/** Leaders and workers, as the set's own controller makes them. */
async function makeReplicas(set: KubeObject, type: ResourceType<never>): Promise<void> {
  const { client } = plane;
  const statefulSet = (name: string, owner: KubeObject, of: ResourceType<never>) =>
    client.create(statefulSetType, {
      metadata: {
        name,
        namespace: 'default',
        ownerReferences: [controllerReference(of as ResourceType, owner as never)],
      },
      spec: {
        serviceName: 'chat',
        selector: { matchLabels: { app: name } },
        template: {
          ...template,
          metadata: { labels: { app: name } },
          spec: { ...template.spec, restartPolicy: 'Always' },
        },
      },
    });
  const leaders = await statefulSet('chat', set, type);
  for (const index of ['0', '1', '2']) {
    const labels = { app: 'chat', [LWS.name]: 'chat', [LWS.groupIndex]: index };
    const name = `chat-${index}`;
    await make(
      podIn(name, leaders as KubeObject, statefulSetType as ResourceType<never>, { ...labels, [LWS.workerIndex]: '0' }),
    );
    const leader = await client.get(podType, { namespace: 'default', name });
    const workers = await statefulSet(name, leader as KubeObject, podType as ResourceType<never>);
    for (const at of ['1', '2', '3']) {
      const own = { ...labels, [LWS.workerIndex]: at };
      await make(podIn(`${name}-${at}`, workers as KubeObject, statefulSetType as ResourceType<never>, own));
    }
  }
}

/** What a budget over the set's pods expects, by all that the cluster says. */
async function expectedUnits(): Promise<number | undefined> {
  const { client } = plane;
  await client.create(podDisruptionBudgetType, {
    metadata: { name: 'chat', namespace: 'default' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'chat' } } },
  });
  const index = new DisruptionIndex();
  for (const kind of FED_KINDS) {
    const [type] = kind.types;
    if (type === undefined || type.group === 'scheduling.quorate.dev') continue;
    for (const object of (await client.list(type, { namespace: 'default' })).items) kind.set(index, object);
  }
  return index.count('default', 'chat', plane.clock.now())?.expectedUnits;
}
