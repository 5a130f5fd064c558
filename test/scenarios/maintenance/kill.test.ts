/** The controller dies between any two writes, again and again; whoever comes next goes on. */
import { afterEach, expect, test } from 'vitest';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { openComponents } from '../../../src/app/run-components.ts';
import { createMaintenanceController } from '../../../src/controllers/quorate/maintenance/index.ts';
import { FeatureGates, silentLogger, type Transport } from '../../../src/machinery/runtime/index.ts';
import { World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

/** A controller whose process ends after so many writes: everything it asks for from then on fails. */
function mortal(writes: number): { stop: () => void; isDead: () => boolean } {
  let left = writes;
  const send: Transport = async (request) => {
    const isWrite = request.method !== 'GET' && !request.path.includes('/events');
    if (left <= 0) throw new Error('the process is dead');
    const response = await world.plane.transport(request);
    if (isWrite) left -= 1;
    return response;
  };
  const components = openComponents({ transportFor: () => send, clock: world.plane.clock, log: silentLogger });
  components.start([createMaintenanceController()]);
  return { stop: () => components.stop(), isDead: () => left <= 0 };
}

test.each([1, 2, 3])('MN-12: killed after every %i writes: it ends, and each group goes down once', async (writes) => {
  world = await World.start({ nodes: 4, gates: new FeatureGates({ Maintenance: false }) });
  await world.gangs(3, { allowed: 1 });
  await world.maintain('m', { nodes: { names: ['node-0', 'node-1'] }, uncordon: 'WhenFinished' });
  let lives = 0;
  for (; lives < 400 && (await world.get('m')).status?.phase !== 'Done'; lives += 1) {
    const controller = mortal(writes);
    for (let second = 0; second < 20 && !controller.isDead(); second += 1) {
      await world.pass(1);
      if ((await world.get('m')).status?.phase === 'Done') break;
    }
    controller.stop();
  }
  const { status } = await world.get('m');
  expect(status?.phase).toBe('Done');
  expect(lives).toBeGreaterThan(5);
  expect(status?.groups?.downTotal).toBe(status?.groups?.planned);
  expect([...world.outages.values()].every((count) => count === 1)).toBe(true);
  expect([...world.outages.values()].length).toBe(status?.groups?.downTotal);
  // One request for each group that went, whoever made it.
  const asked = (await world.client.list(groupEvictionType, { namespace: 'default' })).items;
  expect(asked.length).toBe(status?.groups?.downTotal);
  expect((await world.node('node-0')).spec?.unschedulable).toBeUndefined();
});
