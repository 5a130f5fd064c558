import { expect, test } from 'vitest';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { ManualClock } from '../../../src/machinery/runtime/index.ts';
import { createMemoryStore } from '../../../src/storage/index.ts';
import { startControlPlane } from '../../../src/testkit/index.ts';
import { Stage, withController, workloadType } from './support.ts';
import { workload, member, units, codes } from './groups.fixture.ts';

test(
  'T72 X1 ten groups of eight with minAvailable 9 lose one group and no more',
  withController(async (stage) => {
    await workload(stage, { replicas: 10, minCount: 8 });
    await stage.budget({ minAvailable: 9 });
    await units(stage, 10, 8);
    expect(await stage.numbers()).toEqual([1, 10, 9, 10]);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'True', reason: 'GroupUnits' });
    expect(await codes(stage, 'g0p0', 'g0p1', 'g1p0')).toEqual([201, 201, 429]);
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 9, 9, 10]);
    const refused = await stage.evict('g1p0');
    expect(refused.cause).toBe('The disruption budget foo needs 9 healthy pod groups and has 9 currently');
    expect(refused.status.details?.causes?.map(({ reason }) => reason)).toEqual([
      'DisruptionBudget',
      'QuorateBudget',
      'QuorateGroup',
      'QuorateShortPod',
      'QuorateShortPod',
      'QuorateUnblock',
      'QuorateUnblock',
    ]);
  }),
);

test(
  'T72 X2 a node with a pod of each of two groups is drained one group at a time',
  withController(async (stage) => {
    await workload(stage, { replicas: 2, minCount: 3 });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 2, 3);
    expect(await codes(stage, 'g0p2', 'g1p0')).toEqual([201, 429]);
    await stage.remove('g0p2');
    await stage.settle();
    expect(await codes(stage, 'g1p0')).toEqual([429]);
    await member(stage, 'g0p3', '0');
    await stage.settle();
    expect(await codes(stage, 'g1p0')).toEqual([201]);
  }),
);

test(
  'T72 X3 surplus pods are free, the one below the minimum is not',
  withController(async (stage) => {
    await workload(stage, { replicas: 3, minCount: 8 });
    await stage.budget({ maxUnavailable: 0 });
    await units(stage, 3, 10);
    expect((await stage.numbers())[0]).toBe(0);
    expect(await codes(stage, 'g0p0', 'g0p1', 'g0p2')).toEqual([201, 201, 429]);
  }),
);

test(
  'T72 X4 groups that do not exist are unavailable',
  withController(async (stage) => {
    await workload(stage, { replicas: 10, minCount: 2 });
    await stage.budget({ minAvailable: '80%' });
    await stage.budget({ maxUnavailable: '25%' }, { name: 'bar' });
    await units(stage, 8, 2);
    expect(await stage.numbers()).toEqual([0, 8, 8, 10]);
    expect(await stage.numbers('bar')).toEqual([1, 8, 7, 10]);
  }),
);

test(
  'T72 X5 leader and worker groups add up',
  withController(async (stage) => {
    await workload(stage, { name: 'l', replicas: 2, minCount: 1 }, { name: 'w', replicas: 2, minCount: 4 });
    await stage.budget({ maxUnavailable: 1 });
    await units(stage, 2, 1, 'l');
    await units(stage, 2, 4, 'w');
    expect(await stage.numbers()).toEqual([1, 4, 3, 4]);
    expect(await codes(stage, 'l0p0', 'w0p0')).toEqual([201, 429]);
    expect(await stage.events('MultiplePodGroupsDetected')).not.toEqual([]);
  }),
);

test(
  '18.2: T72 X6 a deleted Workload: evictions wait for the settling time, then pods count',
  withController(async (stage) => {
    await workload(stage, { replicas: 2, minCount: 3 });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 2, 3);
    const deleted = stage.plane.client.delete(workloadType, { namespace: 'default', name: 'w' });
    const refused = await stage.evict('g0p0');
    await deleted;
    expect([refused.code, refused.retryAfter]).toEqual([429, '10']);
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 0, 1, 2]);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'True', reason: 'Settling' });
    expect(await stage.condition('Settling')).toMatchObject({ status: 'True', reason: 'WorkloadNotFound' });
    expect(await stage.events('PodGroupSettling')).toHaveLength(1);
    const waiting = await stage.evict('g0p0');
    expect([waiting.code, waiting.retryAfter]).toEqual([429, '10']);
    expect(waiting.cause).toBe(
      'The disruption budget foo does not allow evicting pods currently (NotSettled): a selected pod names a Workload that does not exist, so such groups count as down; it needs 1 healthy pod groups and is sure of 0',
    );
    await stage.plane.clock.advance(29_000);
    expect(await codes(stage, 'g0p0')).toEqual([429]);
    await stage.plane.clock.advance(1_500);
    await stage.settle();
    expect(await stage.numbers()).toEqual([5, 6, 1, 6]);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'False', reason: 'WorkloadNotFound' });
    expect(await stage.condition('Settling')).toMatchObject({ status: 'False', reason: 'CountsPods' });
    expect(await stage.events('PodGroupFallback')).not.toEqual([]);
    expect(await codes(stage, 'g0p0')).toEqual([201]);
  }),
);

test(
  '18.2: a Workload that comes back ends the wait; the next one takes its whole time',
  withController(async (stage) => {
    await workload(stage, { replicas: 2, minCount: 3 });
    await stage.budget({ minAvailable: 1 });
    await units(stage, 2, 3);
    const lose = () => stage.plane.client.delete(workloadType, { namespace: 'default', name: 'w' });
    await lose();
    await stage.plane.clock.advance(20_000);
    await workload(stage, { replicas: 2, minCount: 3 });
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 2, 1, 2]);
    expect(await stage.condition('Settling')).toMatchObject({ status: 'False', reason: 'GroupsResolved' });
    await lose();
    await stage.plane.clock.advance(29_000);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'True' });
    await stage.plane.clock.advance(2_000);
    expect(await stage.condition('PodGroupBudget')).toMatchObject({ status: 'False' });
  }),
);

test('18.2: a restart of the server neither forgets that groups were counted nor since when they are missing', async () => {
  const store = createMemoryStore({ now: () => clock.now() });
  const clock = new ManualClock();
  const start = async (seed: number): Promise<Stage> => {
    const controllers = [createDisruptionController()];
    const plane = await startControlPlane({ controllers, clock, store, seed });
    await plane.settle();
    return new Stage(plane);
  };
  let stage = await start(1);
  await workload(stage, { replicas: 2, minCount: 3 });
  await stage.budget({ minAvailable: 1 });
  await units(stage, 2, 3);
  await stage.plane.client.delete(workloadType, { namespace: 'default', name: 'w' });
  await clock.advance(10_000);
  await stage.plane.stop();
  await clock.advance(10_000);
  stage = await start(2);
  expect(await codes(stage, 'g0p0')).toEqual([429]);
  await clock.advance(9_000);
  expect(await codes(stage, 'g0p0')).toEqual([429]);
  await clock.advance(2_500);
  await stage.settle();
  expect(await stage.numbers()).toEqual([5, 6, 1, 6]);
  await stage.plane.stop();
  await store.close();
});
