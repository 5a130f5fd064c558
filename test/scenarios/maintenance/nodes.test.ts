/** What happens to nodes under a Maintenance, and what it makes of it. */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { nodeType, podType } from '../../../src/api/resource-types.ts';
import { node as newNode, pod } from '../../../src/testkit/index.ts';
import { told, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const state = async (name: string, node: string): Promise<string | undefined> =>
  (await world.get(name)).status?.nodes?.find((one) => one.name === node)?.state;

/** A pod that somebody bound to a node by its name. */
async function bind(
  name: string,
  nodeName: string,
  more: Partial<Pod['metadata']> = {},
  spec: Partial<Pod['spec']> = {},
): Promise<Pod> {
  const made = pod({ name });
  made.metadata = { ...made.metadata, ...more };
  return world.client.create(podType, {
    ...made,
    spec: { ...made.spec, containers: made.spec?.containers ?? [], ...spec, nodeName },
  });
}

test('MN-13: a node that was cordoned before stays so; those it cordoned are uncordoned', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2);
  await world.setCordon('node-0', true);
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1'] }, uncordon: 'WhenFinished' });
  expect((await world.ends('m')).status?.phase).toBe('Done');
  expect((await world.node('node-0')).spec?.unschedulable).toBe(true);
  const back = await world.node('node-1');
  expect(back.spec?.unschedulable).toBeUndefined();
  expect(told(back)).toMatchObject({ Drained: 'False NodeReturned' });
});

test('MN-14: uncordoned before it was drained: it is let be, its pods stay, and AllOrNothing has failed', async () => {
  world = await World.start({ nodes: 5 });
  await world.gangs(4, { allowed: 1 });
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1', 'node-2'] }, pace: { maxGroupsDownAtOnce: 1 } });
  await world.until(async () => (await world.get('m')).status?.step?.number === 1);
  const open = (await world.get('m')).status?.nodes?.find((one) => one.state === 'Claimed')?.name ?? '';
  const before = (await world.podsOn(open)).map(({ metadata }) => metadata.uid);
  expect(before.length).toBeGreaterThan(0);
  await world.setCordon(open, null);
  const failed = await world.ends('m');
  expect(told(failed)).toMatchObject({ Failed: 'True NodesReleased', Complete: 'False Incomplete' });
  expect(await state('m', open)).toBe('Released');
  expect((await world.node(open)).spec?.unschedulable).toBeUndefined();
  const after = (await world.podsOn(open)).map(({ metadata }) => metadata.uid);
  expect(before.every((uid) => after.includes(uid))).toBe(true);
});

test('MN-15: a drained node that is uncordoned is back, and the next step counts on it', async () => {
  world = await World.start({ nodes: 3 });
  await world.gangs(3, { allowed: 1 });
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1'] }, nodesReturn: true, pace: { maxNodesAtOnce: 1 } });
  await world.until(async () => (await world.get('m')).status?.step?.activity === 'Returning');
  const [first] = (await world.get('m')).status?.plan?.steps[0]?.completes ?? [];
  expect(told(await world.node(first ?? ''))).toMatchObject({
    Drained: 'True DrainCompleted',
    MaintenanceInProgress: 'True AdminRequested',
  });
  await world.setCordon(first ?? '', null);
  await world.pass(2);
  expect(await state('m', first ?? '')).toBe('Returned');
  expect(told(await world.node(first ?? ''))).toMatchObject({
    Drained: 'False NodeReturned',
    MaintenanceInProgress: 'False NodeReturned',
  });
});

test('MN-16: a pod that comes to a claimed node goes too; what keeps coming is named', async () => {
  world = await World.start({ nodes: 3 });
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1'] }, pods: { force: true } });
  const owner = { apiVersion: 'example.com/v1', kind: 'Pinner', name: 'pin', uid: 'pinner', controller: true };
  await bind('slow', 'node-1', { annotations: { 'nodes.quorate.dev/stop-delay': '200s' } });
  const tired = async () => (await world.get('m')).status?.blockers?.find(({ reason }) => reason === 'PodsKeepComing');
  // What comes before the node is claimed is none of those.
  let last = '';
  for (let time = 1; time <= 6 && (await tired()) === undefined; time += 1) {
    await world.until(async () => (await world.podsOn('node-0')).length === 0);
    last = `pinned-${time}`;
    await bind(last, 'node-0', { ownerReferences: [owner] });
    await world.pass(5);
  }
  const { status } = await world.get('m');
  expect(status?.nodes?.find(({ name }) => name === 'node-0')?.replans).toBe(3);
  expect(await tired()).toMatchObject({ kind: 'Node', name: 'node-0' });
  expect((await tired())?.message).toContain('Pinner pin');
  expect((await world.podsOn('node-0')).map(({ metadata }) => metadata.name)).toEqual([last]);
});

test('MN-17: DaemonSet, static and finished pods stay where they are, and the node is drained', async () => {
  world = await World.start({ nodes: 2 });
  const daemon = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
  await bind('static', 'node-0', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  await bind('done', 'node-0', { annotations: { 'nodes.quorate.dev/exit-code': '0' } }, { restartPolicy: 'Never' });
  await bind('of-daemon', 'node-0', { ownerReferences: [daemon] });
  await world.pass(1);
  const before = (await world.podsOn('node-0'))
    .map(({ metadata }) => metadata.uid ?? '')
    .sort((a, b) => a.localeCompare(b));
  await world.maintain('m', { nodes: { names: ['node-0'] } });
  await world.pass(2);
  expect((await world.get('m')).status).toMatchObject({ phase: 'Done', nodesDrained: 1 });
  expect(
    (await world.podsOn('node-0')).map(({ metadata }) => metadata.uid ?? '').sort((a, b) => a.localeCompare(b)),
  ).toEqual(before);
});

test('MN-18: pods that nobody makes again, or that lose data, block until that is allowed', async () => {
  world = await World.start({ nodes: 3 });
  await bind('alone', 'node-0');
  await world.gangs(1, {
    size: 1,
    prefix: 'disk',
    spec: { nodeSelector: { 'kubernetes.io/hostname': 'node-1' }, volumes: [{ name: 'v', emptyDir: {} }] },
  });
  await world.maintain('careful', { nodes: { names: ['node-0', 'node-1'] } });
  await world.pass(2);
  const careful = await world.get('careful');
  expect(careful.status?.phase).toBe('Pending');
  expect(careful.status?.blockers?.map(({ reason }) => reason).sort()).toEqual(['LocalStorage', 'UnmanagedPods']);
  await world.change('careful', { cancelled: true });
  const pods = { force: true, deleteEmptyDirData: true };
  await world.maintain('bold', {
    nodes: { names: ['node-0', 'node-1'] },
    pods,
    capacity: 'Ignore',
    recoveryTimeout: '1m',
  });
  await world.until(
    async () => (await Promise.all(['node-0', 'node-1'].map((one) => world.podsOn(one)))).flat().length === 0,
  );
});

test('MN-19: a node that is deleted is gone; another of its name is not touched', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(3, { allowed: 1 });
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1'] }, pace: { maxNodesAtOnce: 1 } });
  await world.until(async () => (await world.get('m')).status?.step?.number === 1);
  await world.client.delete(nodeType, { name: 'node-1' }, {});
  await world.pass(1);
  await world.client.create(nodeType, newNode({ name: 'node-1' }));
  await world.ends('m');
  expect(await state('m', 'node-1')).toBe('Gone');
  const made = await world.node('node-1');
  expect(made.spec?.unschedulable).toBeUndefined();
  expect(made.metadata.annotations ?? {}).not.toHaveProperty('policy.quorate.dev/maintenance');
});
