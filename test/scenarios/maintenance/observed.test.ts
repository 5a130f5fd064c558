/** Drains of others: shown while their mark is there, and groups moved before a deadline that ignores budgets. */
import { afterEach, expect, test } from 'vitest';
import { maintenanceType } from '../../../src/api/quorate/maintenance.ts';
import { nodeType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { told, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const taint = (node: string, keys: readonly string[]): Promise<unknown> =>
  world.client.patch(
    nodeType,
    { name: node },
    {
      type: 'merge',
      body: {
        spec: {
          taints: keys.map((key) => ({ key, effect: 'NoSchedule', timeAdded: formatTime(world.plane.clock.now()) })),
        },
      },
    },
  );
const observed = async (): Promise<string[]> =>
  (await world.client.list(maintenanceType, {})).items.map(({ metadata }) => metadata.name ?? '').sort();

test('MN-28: a mark makes a Maintenance within 2 s; without it that is Done', async () => {
  world = await World.start({ nodes: 3 });
  await world.gangs(2, { allowed: 2 });
  await taint('node-0', ['ToBeDeletedByClusterAutoscaler']);
  await taint('node-1', ['DeletionCandidateOfClusterAutoscaler']);
  await world.setCordon('node-2', true);
  await world.pass(2);
  // MN-27: a candidate and a plain cordon are none.
  expect(await observed()).toEqual(['observed-node-0']);
  const drain = await world.get('observed-node-0');
  const uid = (await world.node('node-0')).metadata.uid;
  expect(drain.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'node-0', uid }]);
  expect(drain.spec?.source).toEqual({ driver: 'cluster-autoscaler', marker: 'taint ToBeDeletedByClusterAutoscaler' });
  await world.pass(1);
  expect((await world.get('observed-node-0')).status).toMatchObject({ phase: 'Running', nodesTotal: 1 });
  const { metadata, spec } = await world.node('node-0');
  expect([metadata.annotations?.['policy.quorate.dev/maintenance'], spec?.unschedulable]).toEqual([
    undefined,
    undefined,
  ]);
  await taint('node-0', []);
  expect((await world.ends('observed-node-0', 2)).status?.phase).toBe('Done');
});

test('MN-05: nobody but Quorate says that a Maintenance is a drain of others', async () => {
  world = await World.start({ nodes: 1 });
  const source = { driver: 'kured', marker: 'none' };
  await expect(world.maintain('m', { nodes: { names: ['node-0'] }, source })).rejects.toThrow(/spec\.source/);
});

test('MN-25, MN-26: a group goes as one before a deadline that ignores budgets, and only if they let it', async () => {
  world = await World.start({ nodes: 3 });
  for (const node of ['node-1', 'node-2']) await world.setCordon(node, true);
  await world.gangs(1, { allowed: 1, prefix: 'free', spec: { terminationGracePeriodSeconds: 5 } });
  await world.gangs(1, { allowed: 0, prefix: 'kept', spec: { terminationGracePeriodSeconds: 5 } });
  for (const node of ['node-1', 'node-2']) await world.setCordon(node, null);
  // Two minutes are left.
  await taint('node-0', ['aws-node-termination-handler/spot-itn']);
  await world.pass(10);
  expect([...world.outages]).toEqual([['free0', 1]]);
  expect((await world.podsOn('node-0')).map(({ metadata }) => metadata.labels?.['fleet'])).toEqual(['kept', 'kept']);
  expect(told(await world.get('observed-node-0'))['Blocked']).toBe('True BudgetAllowsNone');
  await world.pass(100);
  expect(world.outages.get('kept0')).toBeUndefined();
  const { items } = await world.client.request<{ items: { reason?: string; message?: string }[] }>(
    'GET',
    '/api/v1/events',
  );
  const warned = items.filter(({ reason }) => reason === 'DeadlineWillBreakGroup');
  expect(warned.length).toBe(2);
  expect(warned[0]?.message).toMatch(/takes pods of default\/PodGroup\/kept0 at /);
});
