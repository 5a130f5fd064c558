/** Maintenances of groups that are told before they go. */
import { afterEach, expect, test } from 'vitest';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { jobType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { NOTICE, namespace, Told } from '../notice/fixture.ts';
import { told as conditionsOf } from './fixture.ts';

let told: Told;
afterEach(() => told.world.stop());

const nodesOfGang = async (): Promise<string[]> => [
  ...new Set((await told.members()).map(({ spec }) => spec?.nodeName ?? '')),
];

test('MN-22: paused in a notice it takes that back, and no pod goes; resumed it goes on', async () => {
  told = await Told.start({ duration: '60s' }, { size: 2, nodes: 6 });
  await told.world.maintain('kernel', { nodes: { names: await nodesOfGang() }, reason: 'kernel' });
  await told.world.until(async () => (await told.members()).every(({ metadata }) => metadata.annotations?.[NOTICE]));
  await told.world.pass(2);
  const running = await told.world.get('kernel');
  expect(running.status?.step?.activity).toBe('Noticing');
  expect(conditionsOf(running)['Progressing']).toBe('True NoticeRunning');
  const notice = JSON.parse((await told.members())[0]?.metadata.annotations?.[NOTICE] ?? '{}') as object;
  expect(notice).toMatchObject({ reason: 'kernel', cause: { kind: 'Maintenance', name: 'kernel' } });
  await told.world.change('kernel', { paused: true });
  await told.world.pass(5);
  expect((await told.world.get('kernel')).status?.phase).toBe('Paused');
  for (const { metadata } of await told.staying()) expect(metadata.annotations?.[NOTICE]).toBeUndefined();
  await told.world.pass(90);
  expect(await told.staying()).toHaveLength(2);
  await told.world.change('kernel', { paused: false });
  const before = new Set((await told.members()).map(({ metadata }) => metadata.uid));
  expect((await told.world.ends('kernel')).status?.phase).toBe('Done');
  expect((await told.staying()).some(({ metadata }) => before.has(metadata.uid))).toBe(false);
  expect(told.world.outages.get('g0')).toBe(1);
});

test('a Maintenance that is cancelled in a notice takes that back', async () => {
  told = await Told.start({ duration: '60s' }, { size: 2, nodes: 6 });
  await told.world.maintain('kernel', { nodes: { names: await nodesOfGang() } });
  await told.world.until(async () => (await told.members()).every(({ metadata }) => metadata.annotations?.[NOTICE]));
  await told.world.change('kernel', { cancelled: true });
  await told.world.is('kernel', 'Cancelled');
  await told.world.pass(90);
  expect(await told.staying()).toHaveLength(2);
  const { items } = await told.client.list(groupEvictionType, { namespace });
  expect(items.map(({ status }) => status?.notice?.state)).toEqual(['Withdrawn']);
});

test('NT-18: a Job that ignores quorate.dev/Maintenance goes on after one, and still fails of a crash', async () => {
  told = await Told.start({ duration: '5s' }, { gangs: 0, nodes: 3 });
  const onPodConditions = [{ type: 'quorate.dev/Maintenance', status: 'True' }];
  const template = {
    metadata: { annotations: { 'nodes.quorate.dev/ready-delay': '1s', 'nodes.quorate.dev/stop-delay': '1s' } },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 5,
      containers: [{ name: 'c', image: 'app:1' }],
    },
  };
  const spec = {
    backoffLimit: 0,
    template,
    podReplacementPolicy: 'Failed',
    podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions }] },
  };
  await told.client.create(jobType, { metadata: { name: 'train', namespace }, spec });
  await told.world.pass(5);
  const [pod] = (await told.client.list(podType, { namespace })).items;
  await told.world.maintain('kernel', { nodes: { names: [pod?.spec?.nodeName ?? ''] } });
  await told.world.ends('kernel');
  await told.world.pass(30);
  const job = await told.client.get(jobType, { namespace, name: 'train' });
  expect(job.status?.conditions?.some(({ type }) => type === 'Failed') ?? false).toBe(false);
  const { items } = await told.client.list(podType, { namespace });
  const fresh = items.find(({ metadata }) => !metadata.deletionTimestamp && metadata.uid !== pod?.metadata.uid);
  expect(fresh).toBeDefined();
  const crashed = { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] };
  const key = { namespace, name: fresh?.metadata.name ?? '' };
  await told.client.patch(podType, key, { type: 'strategic', body: { status: crashed } }, { subresource: 'status' });
  await told.world.pass(5);
  const after = await told.client.get(jobType, { namespace, name: 'train' });
  expect(after.status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({ status: 'True' });
});

test('NT-15: a drain of others that will not wait leaves a group what is left until it, less what it needs to stop', async () => {
  told = await Told.start({ duration: '10m' }, { size: 2, nodes: 6 });
  const [node = ''] = await nodesOfGang();
  const timeAdded = new Date(told.world.plane.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const key = 'aws-node-termination-handler/spot-itn';
  const taints = [{ key, value: 'x', effect: 'NoSchedule', timeAdded }];
  await told.client.patch(nodeType, { name: node }, { type: 'merge', body: { spec: { taints } } });
  await told.world.until(async () => (await told.members()).every(({ metadata }) => metadata.annotations?.[NOTICE]));
  const [eviction] = (await told.client.list(groupEvictionType, { namespace })).items;
  expect(eviction?.spec?.cause).toEqual({ kind: 'Maintenance', name: `observed-${node}` });
  // 2 min of the cloud, less 5 s of the pods and 30 s to be sure.
  const wanted = Date.parse(timeAdded) + 120_000 - 5000 - 30_000;
  expect(Date.parse(eviction?.status?.notice?.deadline ?? '')).toBe(wanted);
});
