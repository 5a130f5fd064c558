/** A drain in a terminal makes a Maintenance and follows it. */
import { afterEach, expect, test } from 'vitest';
import { type MaintenanceSpec, maintenanceType } from '../../../src/api/quorate/maintenance.ts';
import { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { type Followed, followDrain } from '../../../src/tasks/index.ts';
import { World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

/** Follows a drain while time passes; `stopAfter` seconds somebody presses Ctrl-C. */
async function drain(
  spec: MaintenanceSpec,
  { stopAfter = Number.POSITIVE_INFINITY } = {},
): Promise<{ followed: Followed | undefined; said: string[] }> {
  const said: string[] = [];
  const report = { step: (text: string) => said.push(text), progress: () => {} };
  let end: { followed: Followed | undefined } | undefined;
  let seconds = 0;
  void followDrain({ client: world.client, clock: world.plane.clock, report }, spec, () => seconds >= stopAfter).then(
    (followed) => {
      end = { followed };
    },
  );
  for (; end === undefined && seconds < 200; seconds += 1) await world.pass(1);
  return { followed: end?.followed, said };
}

test('a drain is followed to its end, paused by Ctrl-C, and given up at its timeout', async () => {
  world = await World.start({ nodes: 2 });
  await world.gangs(1, { size: 1, allowed: 0 });
  const [empty, full] = (await world.podsOn('node-0')).length === 0 ? ['node-0', 'node-1'] : ['node-1', 'node-0'];
  const first = await drain({ nodes: { names: [empty] } });
  const name = first.followed?.name ?? '';
  expect(first).toEqual({ followed: { name, outcome: 'Drained' }, said: [`maintenance ${name} created`] });

  const stuck: MaintenanceSpec = { nodes: { names: [full] }, mode: 'BestEffort', capacity: 'Ignore' };
  const paused = await drain(stuck, { stopAfter: 3 });
  expect(paused.followed?.outcome).toBe('Paused');
  expect((await world.get(paused.followed?.name ?? '')).spec?.paused).toBe(true);
  await world.change(paused.followed?.name ?? '', { cancelled: true });
  const late = await drain({ ...stuck, deadline: formatTime(world.plane.clock.now() + 5000) });
  expect(late.followed).toMatchObject({ outcome: 'TimedOut', text: expect.stringMatching(/deadline .* has passed/) });
});

test('where nobody carries Maintenances out nothing is left behind', async () => {
  world = await World.start({ nodes: 1, gates: new FeatureGates({ Maintenance: false }) });
  const unseen = await drain({ nodes: { names: ['node-0'] } });
  expect(unseen.followed).toBeUndefined();
  expect(unseen.said.at(-1)).toMatch(/nobody carries it out/);
  expect((await world.client.list(maintenanceType, {})).items).toEqual([]);
});
