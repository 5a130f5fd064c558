/** The life of a Maintenance, from its plan to its end. */
import { afterEach, expect, test } from 'vitest';
import { podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { told, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const THREE = { names: ['node-0', 'node-1', 'node-2'] };

test('MN-06: a drain in steps, each of which begins when what the one before took down is whole', async () => {
  world = await World.start({ nodes: 5 });
  await world.gangs(4, { allowed: 1 });
  await world.maintain('m', { nodes: THREE });
  const done = await world.ends('m');
  expect(world.phases.get('m')).toEqual(['Planned', 'Running', 'Done']);
  expect(done.status).toMatchObject({ nodesTotal: 3, nodesDrained: 3, summary: { nodes: '3/3' } });
  expect(told(done)).toMatchObject({ Complete: 'True Drained', Failed: 'False NotFailed', Planned: 'True PlanMade' });
  const { groups, plan } = done.status ?? {};
  expect(groups?.downTotal).toBe(plan?.disruptions);
  expect([...world.outages.values()].reduce((sum, one) => sum + one, 0)).toBe(plan?.disruptions);
  expect([...world.outages.values()].every((count) => count === 1)).toBe(true);
  expect(world.mostDown).toBe(1);
  for (const name of THREE.names) {
    expect(await world.podsOn(name)).toEqual([]);
    const node = await world.node(name);
    expect(node.spec?.unschedulable).toBe(true);
    expect(node.metadata.annotations).not.toHaveProperty('policy.quorate.dev/maintenance');
    expect(told(node)).toMatchObject({
      MaintenancePlanned: 'False MaintenanceStarted',
      DrainInProgress: 'False DrainCompleted',
      Drained: 'True DrainCompleted',
      MaintenanceInProgress: 'False MaintenanceEnded',
    });
  }
});

test('MN-07: what cannot all go is not begun; when it can, it is', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2, { allowed: 0 });
  await world.maintain('m', { nodes: THREE });
  await world.pass(2);
  const waiting = await world.get('m');
  expect(waiting.status?.phase).toBe('Pending');
  expect(told(waiting)).toMatchObject({ Planned: 'False CannotAllGo', Blocked: 'True BudgetAllowsNone' });
  expect(waiting.status?.blockers?.[0]).toMatchObject({ kind: 'PodDisruptionBudget', name: 'budget-g' });
  expect((await world.node('node-0')).spec?.unschedulable).toBeUndefined();
  const body = { spec: { maxUnavailable: 1 } };
  await world.client.patch(
    podDisruptionBudgetType,
    { namespace: 'default', name: 'budget-g' },
    { type: 'merge', body },
  );
  await world.until(async () => (await world.get('m')).status?.plan !== undefined, 16);
  expect((await world.ends('m')).status?.phase).toBe('Done');
});

test('MN-08: BestEffort takes the others, and says of the rest what is in the way and what helps', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2, { allowed: 0, prefix: 'stuck' });
  await world.gangs(2, { prefix: 'free' });
  await world.maintain('m', { nodes: THREE, mode: 'BestEffort' });
  const blocked = await world.is('m', 'Blocked');
  const [blocker] = blocked.status?.blockers ?? [];
  expect(blocker).toMatchObject({ kind: 'PodDisruptionBudget', namespace: 'default', name: 'budget-stuck' });
  expect(blocker?.group).toMatch(/^default\/PodGroup\/stuck/);
  expect(blocker?.pods?.length).toBeGreaterThan(0);
  expect(blocker?.since).toBeDefined();
  expect(blocker?.remedies?.length).toBeGreaterThan(0);
  const left = (await Promise.all(THREE.names.map((name) => world.podsOn(name)))).flat();
  expect(left.every(({ metadata }) => metadata.name?.startsWith('stuck'))).toBe(true);
});

test('MN-09: before its time nothing is touched, and the nodes say what is planned', async () => {
  world = await World.start({ nodes: 4 });
  await world.gangs(2);
  await world.maintain('m', { nodes: THREE, notBefore: formatTime(world.plane.clock.now() + 90_000) });
  await world.pass(2);
  const waiting = await world.get('m');
  expect(waiting.status?.phase).toBe('WaitingForWindow');
  expect(told(waiting)).toMatchObject({ Progressing: 'False NotBefore', Planned: 'True PlanMade' });
  const node = await world.node('node-1');
  expect(node.spec?.unschedulable).toBeUndefined();
  expect(told(node)['MaintenancePlanned']).toBe('True MaintenanceWindow');
  await world.pass(60);
  expect((await world.get('m')).status?.phase).toBe('WaitingForWindow');
  expect((await world.ends('m')).status?.phase).toBe('Done');
});

test('MN-10: a step that has begun ends when the window closes; the next one waits, and nodes stay cordoned', async () => {
  world = await World.start({ nodes: 5 });
  await world.gangs(4, { allowed: 1 });
  const start = new Date(Math.ceil((world.plane.clock.now() + 60_000) / 60_000) * 60_000);
  const window = { start: start.toISOString().slice(11, 16), duration: '1m' };
  await world.maintain('m', {
    nodes: THREE,
    windows: [window],
    pace: { maxGroupsDownAtOnce: 1, pauseBetweenSteps: '50s' },
  });
  await world.is('m', 'Running');
  await world.until(async () => ((await world.get('m')).status?.step?.number ?? 0) >= 2);
  const waiting = await world.is('m', 'WaitingForWindow');
  expect(told(waiting)['Progressing']).toBe('False OutsideWindow');
  expect(waiting.status?.step).toMatchObject({ number: 2 });
  expect(waiting.status?.step?.doneAt).toBeDefined();
  expect((await world.node('node-2')).spec?.unschedulable).toBe(true);
  await world.pass(60);
  expect((await world.get('m')).status?.step?.number).toBe(2);
});
