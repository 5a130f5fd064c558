/** Maintenances of groups that are told before they go. */
import { afterEach, expect, test } from 'vitest';
import { disruptionPolicyType } from '../../../src/api/quorate/disruption-policy.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import type { Window } from '../../../src/api/quorate/window.ts';
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

/** The next full minute at least half a minute away, and a window that opens then, for three minutes a day. */
function nextWindow(): { opens: number; window: Window } {
  const opens = Math.ceil((told.world.plane.clock.now() + 30_000) / 60_000) * 60_000;
  return { opens, window: { start: new Date(opens).toISOString().slice(11, 16), duration: '3m' } };
}

const DAY_MS = 24 * 3_600_000;
const nodesOfAll = async (): Promise<string[]> => {
  const { items } = await told.client.list(podType, { namespace });
  return [...new Set(items.map(({ spec }) => spec?.nodeName ?? ''))];
};
const annotated = async (): Promise<number> => {
  const { items } = await told.client.list(podType, { namespace });
  return items.filter(({ metadata }) => metadata.annotations?.[NOTICE] !== undefined).length;
};

test('2.4: a notice that would outlast the window is not begun; the expected end knows that, and notices', async () => {
  told = await Told.start({ duration: '2m' }, { size: 1, gangs: 2, nodes: 6 });
  const { opens, window } = nextWindow();
  const pace = { maxGroupsDownAtOnce: 1 };
  await told.world.maintain('kernel', { nodes: { names: await nodesOfAll() }, windows: [window], pace });
  await told.world.is('kernel', 'WaitingForWindow');
  const before = (await told.world.get('kernel')).status;
  expect(before?.plan?.steps).toHaveLength(2);
  // The second notice does not fit behind the first: it is given a day later.
  const end = Date.parse(before?.expectedEnd ?? '');
  expect(end - opens - DAY_MS).toBeGreaterThanOrEqual(120_000);
  expect(end - opens - DAY_MS).toBeLessThan(240_000);
  await told.world.is('kernel', 'Running');
  const waiting = await told.world.is('kernel', 'WaitingForWindow');
  expect(waiting.status?.step).toMatchObject({ number: 1, of: 2 });
  const progressing = waiting.status?.conditions?.find(({ type }) => type === 'Progressing');
  expect(progressing).toMatchObject({ status: 'False', reason: 'OutsideWindow' });
  const tomorrow = new Date(opens + DAY_MS).toISOString().replace('.000Z', 'Z');
  expect(progressing?.message).toMatch(new RegExp(`is told 2m before it goes, which fits at ${tomorrow}$`));
  expect(told.world.plane.clock.now()).toBeLessThan(opens + 180_000);
  await told.world.pass(60);
  expect(await annotated()).toBe(0);
  expect([...told.world.outages.values()]).toEqual([1]);
});

test('2.4: where no window is as long as a notice nothing begins, until the policy asks for less', async () => {
  told = await Told.start({ duration: '10m' }, { size: 1, nodes: 3 });
  const { window } = nextWindow();
  await told.world.maintain('kernel', { nodes: { names: await nodesOfGang() }, windows: [window] });
  await told.world.pass(100);
  const { status } = await told.world.is('kernel', 'WaitingForWindow');
  expect(status?.expectedEnd).toBeUndefined();
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  expect(progressing?.message).toMatch(/is told 10m before it goes, and no window is that long$/);
  expect((await told.world.node((await nodesOfGang())[0] ?? '')).spec?.unschedulable).toBeUndefined();
  await told.client.patch(
    disruptionPolicyType,
    { namespace, name: 'told' },
    {
      type: 'merge',
      body: { spec: { notice: { duration: '5s' } } },
    },
  );
  expect((await told.world.ends('kernel', 90)).status?.phase).toBe('Done');
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
