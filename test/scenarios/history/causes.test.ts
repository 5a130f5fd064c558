/** Which cause the record gives for pods that went, and what is no disruption. */
import { afterEach, expect, test } from 'vitest';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { deploymentType, jobType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { namespace, Recorded } from './fixture.ts';

let recorded: Recorded;
afterEach(() => recorded.stop());

test('RC-01: an eviction is one entry with who asked, the pod, and how long its place was empty', async () => {
  recorded = await Recorded.start(2);
  await recorded.fleet('web', 3);
  const pod = await recorded.one('web');
  expect(await recorded.evict(pod, 'ada')).toBe(201);
  await recorded.pass(20);
  const [entry, ...others] = await recorded.entries();
  expect(others).toEqual([]);
  const { name = '', uid = '' } = pod.metadata;
  expect(entry).toMatchObject({
    outcome: 'Granted',
    way: 'Eviction',
    voluntary: true,
    who: 'ada',
    namespace,
    group: `default/Pod/${name}`,
    pods: [{ name, uid, node: pod.spec?.nodeName }],
    podsTotal: 1,
    end: 'Whole',
  });
  expect(entry?.owner).toMatch(/^ReplicaSet\/web-/);
  expect(entry?.groupSeconds).toBeGreaterThan(0);
  expect(entry?.groupSeconds).toBe(entry?.podSeconds);
});

test('RC-01: a group that goes as one is one entry with all its pods', async () => {
  recorded = await Recorded.start(4);
  await recorded.world.gangs(1, { size: 4, prefix: 'gang' });
  await recorded.plane
    .clientFor('grace')
    .create(groupEvictionType, { metadata: { namespace, name: 'all' }, spec: { podGroupName: 'gang0' } });
  await recorded.pass(30);
  const entries = await recorded.entries();
  expect(entries).toHaveLength(1);
  const [entry] = entries;
  expect(entry).toMatchObject({
    outcome: 'Granted',
    way: 'GroupEviction',
    who: 'grace',
    group: 'default/PodGroup/gang0',
    podsTotal: 4,
    end: 'Whole',
  });
  expect(entry?.podSeconds).toBeGreaterThanOrEqual((entry?.groupSeconds ?? 0) * 3);
});

test('RC-01: a Maintenance is named as what was behind the evictions on its nodes', async () => {
  recorded = await Recorded.start(3);
  await recorded.world.gangs(1, { size: 2, prefix: 'gang', allowed: 1 });
  const [pod] = await recorded.pods('gang0');
  await recorded.world.maintain('kernel', { nodes: { names: [pod?.spec?.nodeName ?? ''] } });
  await recorded.world.ends('kernel');
  const [entry] = await recorded.entries();
  expect(entry).toMatchObject({
    outcome: 'Granted',
    way: 'Maintenance',
    cause: { kind: 'Maintenance', name: 'kernel' },
  });
});

test('RC-01: a plain delete names who deleted, and no budget agreed to it', async () => {
  recorded = await Recorded.start(2);
  await recorded.fleet('web', 2);
  const { name = '' } = (await recorded.one('web')).metadata;
  await recorded.plane.clientFor('bob').delete(podType, { namespace, name });
  const [entry] = await recorded.entries();
  expect(entry).toMatchObject({ outcome: 'Seen', way: 'Delete', voluntary: false, who: 'bob' });
});

test('RC-01: pods that a taint drives away, and those of a node that dies', async () => {
  recorded = await Recorded.start(3);
  await recorded.world.gangs(1, { size: 2, prefix: 'gang' });
  const [pod] = await recorded.pods('gang0');
  await recorded.taint(pod?.spec?.nodeName ?? '', 'example.com/gone');
  await recorded.pass(40);
  const [entry] = await recorded.entries();
  expect(entry).toMatchObject({
    outcome: 'Seen',
    way: 'TaintManager',
    voluntary: false,
    group: 'default/PodGroup/gang0',
  });
  const [other] = await recorded.ready('gang0');
  await recorded.client.delete(nodeType, { name: other?.spec?.nodeName ?? '' });
  await recorded.pass(120);
  const ways = (await recorded.entries()).map(({ way }) => way);
  expect(ways.slice(1)).toEqual(['PodGC']);
});

test('RC-03: a scale-down, a rollout and a Job that is done are no disruptions', async () => {
  recorded = await Recorded.start(3);
  await recorded.fleet('web', 4);
  const key = { namespace, name: 'web' };
  await recorded.client.patch(deploymentType, key, { type: 'merge', body: { spec: { replicas: 2 } } });
  await recorded.pass(15);
  const template = { metadata: { annotations: { version: '2' } } };
  await recorded.client.patch(deploymentType, key, { type: 'merge', body: { spec: { template } } });
  await recorded.pass(60);
  expect(await recorded.ready('web')).toHaveLength(2);
  const annotations = { 'nodes.quorate.dev/exit-after': '5s' };
  const pod = { metadata: { annotations }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  await recorded.client.create(jobType, { metadata: { namespace, name: 'once' }, spec: { template: pod } });
  await recorded.pass(60);
  await recorded.client.delete(jobType, { namespace, name: 'once' }, { propagationPolicy: 'Background' });
  await recorded.pass(10);
  expect(await recorded.entries()).toEqual([]);
});
