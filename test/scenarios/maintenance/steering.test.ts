/** Maintenances beside each other, paused, deleted, at their deadline, and contradicted. */
import { afterEach, expect, test } from 'vitest';
import { maintenanceType } from '../../../src/api/quorate/maintenance.ts';
import { nodeType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { told, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const THREE = { names: ['node-0', 'node-1', 'node-2'] };

test('MN-20: a group that would go down once more waits for leave, and then goes', async () => {
  world = await World.start({ nodes: 4 });
  await world.setCordon('node-3', true);
  await world.gangs(3, { allowed: 1 });
  await world.setCordon('node-3', null);
  const notBefore = formatTime(world.plane.clock.now() + 10_000);
  const pace = { maxGroupsDownAtOnce: 1, pauseBetweenSteps: '30s' };
  await world.maintain('m', { nodes: THREE, cordon: 'ByStep', notBefore, pace });
  await world.is('m', 'WaitingForWindow');
  // What the first step takes can only come back on nodes that are still to do.
  await world.setCordon('node-3', true);
  await world.until(async () => (await world.get('m')).status?.step?.doneAt !== undefined);
  const group = (await world.get('m')).status?.groups?.hit?.find(({ count }) => count === 1)?.group ?? '';
  await world.setCordon('node-3', null);
  const needsMore = async () =>
    (await world.get('m')).status?.blockers?.find(({ reason }) => reason === 'ReplanNeedsMore');
  await world.until(async () => (await needsMore()) !== undefined);
  expect(await needsMore()).toMatchObject({ kind: 'Maintenance', group });
  const planned = (await world.get('m')).status?.groups?.planned ?? 0;
  await world.change('m', { replan: 'Any' });
  const done = await world.ends('m');
  expect(done.status?.phase).toBe('Done');
  expect(done.status?.groups?.planned).toBe(planned + 1);
});

test('MN-21: of two that want the same nodes one has them all; the other waits, and both end', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(3, { allowed: 1 });
  await world.maintain('a', { nodes: { names: ['node-0', 'node-1'] }, uncordon: 'WhenFinished' });
  await world.maintain('b', { nodes: { names: ['node-1', 'node-0'] }, uncordon: 'WhenFinished' });
  await world.pass(2);
  const phases = await Promise.all(['a', 'b'].map(async (name) => (await world.get(name)).status?.phase));
  const loser = phases[0] === 'Blocked' ? 'a' : 'b';
  const waiting = await world.get(loser);
  expect(told(waiting)).toMatchObject({ Blocked: 'True NodeClaimed' });
  const holders = await Promise.all(
    ['node-0', 'node-1'].map(
      async (name) => (await world.node(name)).metadata.annotations?.['policy.quorate.dev/maintenance']?.split('/')[0],
    ),
  );
  expect(new Set(holders)).toEqual(new Set([loser === 'a' ? 'b' : 'a']));
  expect((await world.ends('a')).status?.phase).toBe('Done');
  expect((await world.ends('b')).status?.phase).toBe('Done');
});

test('MN-22 without notice: paused, nothing new is begun; resumed, it goes on', async () => {
  world = await World.start({ nodes: 5 });
  await world.gangs(4, { allowed: 1 });
  await world.maintain('m', { nodes: THREE });
  await world.until(async () => (await world.get('m')).status?.step?.number === 1);
  await world.change('m', { paused: true });
  const paused = await world.is('m', 'Paused');
  expect(told(paused)['Progressing']).toBe('False Paused');
  await world.pass(20);
  const outages = [...world.outages.values()].reduce((sum, one) => sum + one, 0);
  expect(outages).toBe(1);
  expect((await world.get('m')).status?.step).toMatchObject({ number: 1 });
  await world.change('m', { paused: false });
  expect((await world.ends('m')).status?.phase).toBe('Done');
});

test('MN-23: deleted in the middle: nodes are let go, then it is gone; pods that go, go', async () => {
  world = await World.start({ nodes: 5 });
  await world.gangs(4, { allowed: 1 });
  await world.maintain('m', { nodes: THREE, uncordon: 'WhenFinished' });
  await world.until(async () => (await world.get('m')).status?.step?.number === 2);
  await world.client.delete(maintenanceType, { name: 'm' }, {});
  await world.until(async () => (await world.client.list(maintenanceType, {})).items.length === 0, 5);
  expect(world.phases.get('m')?.at(-1)).toBe('Cancelled');
  for (const name of THREE.names) {
    const { metadata, spec } = await world.node(name);
    expect(metadata.annotations ?? {}).not.toHaveProperty('policy.quorate.dev/maintenance');
    expect(spec?.unschedulable).toBeUndefined();
  }
  await world.pass(10);
  expect(world.outages.size).toBe(2);
});

test('MN-24: at its deadline it ends as it is; no budget is overridden', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2, { allowed: 0 });
  const deadline = formatTime(world.plane.clock.now() + 60_000);
  await world.maintain('m', { nodes: THREE, mode: 'BestEffort', deadline });
  await world.is('m', 'Blocked');
  const failed = await world.ends('m', 90);
  expect(told(failed)).toMatchObject({ Failed: 'True DeadlineExceeded' });
  expect(world.outages.size).toBe(0);
});

test('MN-29: a condition that another writer turns is set again once a minute, and told of', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2, { allowed: 0 });
  await world.maintain('m', { nodes: THREE, mode: 'BestEffort' });
  await world.is('m', 'Blocked');
  const claimed = (await world.get('m')).status?.nodes?.find(({ state }) => state === 'Claimed')?.name ?? '';
  const turn = async (): Promise<void> => {
    const conditions = [
      {
        type: 'DrainInProgress',
        status: 'False',
        reason: 'Other',
        lastTransitionTime: formatTime(world.plane.clock.now()),
      },
    ];
    await world.client.patch(
      nodeType,
      { name: claimed },
      { type: 'strategic', body: { status: { conditions } } },
      { subresource: 'status' },
    );
  };
  const stands = async (): Promise<string | undefined> => told(await world.node(claimed))['DrainInProgress'];
  await world.pass(60);
  await turn();
  await world.pass(2);
  expect(await stands()).toBe('True AdminRequested');
  await turn();
  await world.pass(10);
  expect(await stands()).toBe('False Other');
  await world.pass(55);
  expect(await stands()).toBe('True AdminRequested');
  const { items } = await world.client.request<{ items: { reason?: string }[] }>('GET', '/api/v1/events');
  expect(items.some(({ reason }) => reason === 'ConditionContested')).toBe(true);
});

test('one that has ended is deleted when its time is over', async () => {
  world = await World.start({ nodes: 2 });
  await world.maintain('m', { nodes: { names: ['node-0'] }, ttlSecondsAfterFinished: 30 });
  expect((await world.ends('m')).status?.phase).toBe('Done');
  await world.pass(32);
  expect((await world.client.list(maintenanceType, {})).items).toEqual([]);
});

test('nodes that are not there: it fails at once, and BestEffort goes on with the others', async () => {
  world = await World.start({ nodes: 2 });
  await world.maintain('strict', { nodes: { names: ['node-0', 'nowhere'] } });
  await world.maintain('loose', { nodes: { names: ['node-0', 'nowhere'] }, mode: 'BestEffort' });
  expect(told(await world.ends('strict'))).toMatchObject({
    Failed: 'True NodesNotFound',
    Planned: 'False NodesNotFound',
  });
  const loose = await world.ends('loose');
  expect(loose.status).toMatchObject({ phase: 'Done', nodesTotal: 1 });
  expect(told(loose)['Complete']).toBe('False Incomplete');
});
