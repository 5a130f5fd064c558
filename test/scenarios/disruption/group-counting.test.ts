import { expect, test } from 'vitest';
import { nodeType, podType, statefulSetType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { type Client, type Controller } from '../../../src/machinery/runtime/index.ts';
import { onPlane, withController } from './support.ts';
import { workload, member, units, codes } from './groups.fixture.ts';

for (const policy of [undefined, 'AlwaysAllow']) {
  test(
    `T72 X7 one unready pod in every group ${policy ? 'lets everything go' : 'blocks everything'} with policy ${policy ?? 'unset'}`,
    withController(async (stage) => {
      await workload(stage, { replicas: 3, minCount: 3 });
      await stage.budget({ minAvailable: 2, ...(policy && { unhealthyPodEvictionPolicy: policy }) });
      await units(stage, 3, 3);
      for (let unit = 0; unit < 3; unit += 1) await stage.setReady(`g${unit}p0`, false);
      await stage.settle();
      expect((await stage.numbers()).slice(0, 2)).toEqual([0, 0]);
      expect(await codes(stage, 'g0p0', 'g1p1')).toEqual(policy ? [201, 201] : [429, 429]);
    }),
  );
}

test(
  'T72 X8 a group already down goes on being drained, others wait',
  withController(async (stage) => {
    await workload(stage, { replicas: 4, minCount: 3 });
    await stage.budget({ maxUnavailable: 1 });
    await units(stage, 4, 3);
    await stage.setReady('g3p0', false);
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 3, 3, 4]);
    expect(await codes(stage, 'g3p1', 'g0p0')).toEqual([201, 429]);
  }),
);

test(
  'T72 X9 X10 of evictions at once that cannot both be, one is granted',
  withController(async (stage) => {
    await workload(stage, { replicas: 2, minCount: 2 });
    await stage.budget({ minAvailable: 2 });
    await units(stage, 2, 3);
    const surplus = await Promise.all([stage.evict('g0p0'), stage.evict('g0p1')]);
    expect(surplus.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 429]);
    const others = await Promise.all([stage.evict('g1p0'), stage.evict('g1p1'), stage.evict('g1p2')]);
    expect(others.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 429, 429]);
  }),
);

test(
  'T72 X11 X12 more groups than declared count; a group is available from its minimum on',
  withController(async (stage) => {
    await workload(stage, { replicas: 1, minCount: 2 });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 2, 3);
    expect(await stage.numbers()).toEqual([1, 2, 1, 1]);
    await stage.setReady('g0p0', false);
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(2);
    await stage.setReady('g0p1', false);
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(1);
  }),
);

/** The disruption controller on an API server that fails whenever it is asked for Workloads. */
const withoutWorkloads: Controller = {
  name: 'without-workloads',
  start: (context) =>
    createDisruptionController().start({
      ...context,
      client: {
        ...context.client,
        request: async (method: string, path: string, ...rest: []) => {
          if (path.startsWith('/apis/scheduling.k8s.io')) throw new Error('500 Internal Server Error');
          return context.client.request(method, path, ...rest);
        },
      } as Client,
    }),
};

test(
  'T73 nothing may go while Workloads cannot be read',
  onPlane(
    async (stage) => {
      await workload(stage, { replicas: 2, minCount: 1 });
      await stage.budget({ minAvailable: 1 });
      await units(stage, 2, 1);
      expect(await stage.condition()).toMatchObject({ status: 'False', reason: 'SyncFailed' });
      expect((await stage.numbers())[0]).toBe(0);
      expect(await codes(stage, 'g0p0')).toEqual([429]);
    },
    { controller: withoutWorkloads },
  ),
);

test(
  'T75 individual pods beside gangs are left out and spoken of',
  withController(async (stage) => {
    await workload(stage, { replicas: 1, minCount: 2 }, { name: 'b' });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 1, 2);
    await member(stage, 'single', '0', { group: 'b' });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 1, 1]);
    expect(await stage.events('MixedPodGroups')).not.toEqual([]);
  }),
);

test(
  'T76 a controller whose pods name their group only in part is counted in pods',
  withController(async (stage) => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true };
    await workload(stage, { replicas: 1, minCount: 2 });
    await stage.budget({ minAvailable: 1 });
    await stage.pod('a', { owner, spec: { workloadRef: { name: 'w', podGroup: 'g' } } });
    await stage.pod('b', { owner });
    await stage.plane.clock.advance(31_000);
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 2, 1, 2]);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'False', reason: 'PartiallyLabelled' });
  }),
);

test(
  'T77 members outside the selector wake the budget and hold their group up',
  withController(async (stage) => {
    await workload(stage, { replicas: 1, minCount: 2 });
    await stage.budget({ selector: { matchLabels: { role: 'leader' } }, minAvailable: 1 });
    await member(stage, 'leader', '0', { labels: { role: 'leader' } });
    await member(stage, 'worker', '0', { labels: { role: 'worker' } });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 1, 1]);
    await stage.setReady('worker', false);
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(0);
  }),
);

test(
  'T78 a Pending member goes without asking',
  withController(async (stage) => {
    await workload(stage, { replicas: 1, minCount: 2 });
    await stage.budget({ minAvailable: 1 });
    await member(stage, 'g0p0', '0', { phase: 'Pending', ready: false });
    await stage.settle();
    expect(await codes(stage, 'g0p0')).toEqual([201]);
  }),
);

test(
  'T80 a pod evicted again costs nothing more',
  withController(async (stage) => {
    await workload(stage, { replicas: 3, minCount: 1 });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 3, 1);
    const wrong = { deleteOptions: { preconditions: { uid: 'other' } } };
    expect((await stage.evict('g0p0', wrong)).code).toBe(409);
    expect((await stage.evict('g0p0', wrong)).code).toBe(409);
    expect((await stage.numbers())[0]).toBe(1);
  }),
);

test(
  'a budget that looks ahead refuses the first pod of a cordoned node it could not empty',
  withController(async (stage) => {
    const { client } = stage.plane;
    await client.create(nodeType, { metadata: { name: 'node-b' } });
    await workload(stage, { replicas: 2, minCount: 3 });
    await stage.budget({ minAvailable: 1 }, { annotations: { 'policy.quorate.dev/drain-lookahead': 'Node' } });
    for (const [name, key, node] of [
      ['a0', '0', 'node-a'],
      ['a1', '0', 'node-a'],
      ['a2', '0', 'node-b'],
      ['b0', '1', 'node-b'],
      ['b1', '1', 'node-c'],
      ['b2', '1', 'node-c'],
    ] as const) {
      await member(stage, name, key, { node });
    }
    await stage.settle();
    expect((await stage.evict('a2', {}, '?dryRun=All')).code).toBe(201);
    await client.patch(nodeType, { name: 'node-b' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    const refused = await stage.evict('a2');
    expect([refused.code, refused.retryAfter]).toEqual([429, undefined]);
    expect(refused.cause).toContain('NodeNotDrainable');
    expect(
      (await client.get(podType, { namespace: 'default', name: 'a2' })).metadata.deletionTimestamp,
    ).toBeUndefined();
    expect(await codes(stage, 'a0')).toEqual([201]);
  }),
);

test(
  'a budget that groups by LeaderWorkerSet counts its groups, of as many as the set asks for',
  withController(async (stage) => {
    const prefix = 'leaderworkerset.sigs.k8s.io';
    await stage.plane.client.create(statefulSetType, {
      metadata: {
        name: 'llm',
        namespace: 'default',
        labels: { [`${prefix}/name`]: 'llm' },
        annotations: { [`${prefix}/replicas`]: '3' },
      },
      spec: {
        replicas: 3,
        serviceName: 'llm',
        selector: { matchLabels: { app: 'none' } },
        template: { metadata: { labels: { app: 'none' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
      },
    });
    await stage.budget({ maxUnavailable: 1 }, { annotations: { 'policy.quorate.dev/group-by': 'leaderworkerset' } });
    for (const group of ['0', '1', '2']) {
      for (const at of ['0', '1']) {
        const labels = { app: 'a', [`${prefix}/name`]: 'llm', [`${prefix}/group-index`]: group };
        await stage.pod(`llm-${group}-${at}`, { labels, annotations: { [`${prefix}/size`]: '2' } });
      }
    }
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 3, 2, 3]);
    expect(await codes(stage, 'llm-0-0', 'llm-0-1', 'llm-1-0')).toEqual([201, 201, 429]);
  }),
);

test(
  '18.15: Story 1 in its own words: pods name their replica by spec.workload.podGroupReplicaIndex',
  withController(async (stage) => {
    await workload(stage, { name: 'worker', replicas: 4, minCount: 2 });
    await stage.budget({ minAvailable: 3 });
    for (const podGroupReplicaIndex of [0, 1, 2, 3]) {
      for (const at of [0, 1]) {
        const link = { name: 'w', podGroup: 'worker', podGroupReplicaIndex };
        await stage.pod(`g${podGroupReplicaIndex}p${at}`, { spec: { workload: link } });
      }
    }
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 4, 3, 4]);
    expect(await codes(stage, 'g0p0', 'g0p1', 'g1p0')).toEqual([201, 201, 429]);
  }),
);
