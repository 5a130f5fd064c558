/** EvictionRequests on a cluster that serves the kinds, where replicas of the operator carry them out. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import type { EvictionRequest } from '../../../src/api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType } from '../../../src/api/lifecycle/index.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { existing } from '../../../src/machinery/runtime/index.ts';
import { pod } from '../../../src/testkit/index.ts';
import type { Plan } from '../../simulation/plan.ts';
import { World } from '../../simulation/world.ts';
import { namespace, told } from './fixture.ts';

/** Three nodes, two replicas, and nothing that goes wrong. */
const CALM: Plan = { seed: 1, host: 'cluster', nodes: 3, gangs: [], plain: 0, steps: [] };

async function play(scenario: (world: World) => Promise<void>): Promise<void> {
  const world = new World(CALM, { violated: () => {}, happened: () => {} });
  try {
    await world.start();
    await world.clock.advance(10_000);
    await scenario(world);
  } finally {
    await world.stop();
  }
}

async function ask(world: World, name: string, responders: NonNullable<Pod['spec']>['evictionResponders'] = []) {
  const spec = responders.length > 0 ? { evictionResponders: responders } : {};
  const made = await world.client.create(podType, pod({ name, spec }));
  const target = { pod: { name, uid: made.metadata.uid ?? '' } };
  const request = {
    metadata: { name, namespace },
    spec: { target, requester: 'example.com/drain', intent: 'Eviction' },
  };
  await world.client.create(evictionRequestType, request);
}
const request = (world: World, name: string): Promise<EvictionRequest> =>
  world.client.get(evictionRequestType, { namespace, name });

test('ER-20: native kinds are carried out by the operator, responders first', async () => {
  await play(async (world) => {
    await ask(world, 'plain');
    await ask(world, 'saved', [{ name: 'example.com/saver', priority: 10_000 }]);
    for (let at = 0; at < 60; at += 1) await world.clock.advance(1000);
    expect(told(await request(world, 'plain'))).toEqual(['Failed=False/Succeeded', 'TargetEvicted=True/PodDeleted']);
    expect(await existing(world.client.get(podType, { namespace, name: 'plain' }))).toBeUndefined();
    const eviction = await world.client.get(evictionType, { namespace, name: 'pod-1-saved' });
    expect(eviction.status?.targetResponders?.map(({ state }) => state)).toEqual(['Active', 'Inactive']);
  });
});
