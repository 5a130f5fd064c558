/** EvictionRequests on a cluster that serves the kinds, where replicas of the operator carry them out. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import type { EvictionRequest } from '../../../src/api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType } from '../../../src/api/lifecycle/index.ts';
import { disruptionPolicyType, type NoticeTerms } from '../../../src/api/quorate/disruption-policy.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { PodGroup } from '../../../src/api/generated/scheduling-v1beta1.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { existing } from '../../../src/machinery/runtime/index.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { pod } from '../../../src/testkit/index.ts';
import type { Plan } from '../../simulation/plan.ts';
import { World } from '../../simulation/world.ts';
import { namespace, told } from './fixture.ts';

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;

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

const SAVER = 'checkpoints.example.com/saver';

test('5.3: a group that is told by EvictionRequests goes as one when its responder has saved every member', async () => {
  await play(async (world) => {
    const pass = async (seconds: number): Promise<void> => {
      for (let at = 0; at < seconds; at += 1) await world.clock.advance(1000);
    };
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    await world.client.create(podGroupType, { metadata: { name: 'g', namespace }, spec });
    for (const name of ['g-0', 'g-1']) {
      await world.client.create(podType, pod({ name, spec: { schedulingGroup: { podGroupName: 'g' } } }));
    }
    const notice: NoticeTerms = {
      duration: '10m',
      channels: [{ type: 'EvictionRequest' }],
      acknowledgement: { from: 'Responder', responder: SAVER },
    };
    await world.client.create(disruptionPolicyType, {
      metadata: { name: 'told', namespace },
      spec: { selector: {}, notice },
    });
    await pass(20);
    const first = await world.client.get(podType, { namespace, name: 'g-0' });
    const target = { pod: { name: 'g-0', uid: first.metadata.uid ?? '' } };
    await world.client.create(evictionRequestType, {
      metadata: { name: 'mine', namespace },
      spec: { target, requester: 'example.com/drain', intent: 'Eviction' },
    });
    await pass(20);
    const asking = (await world.client.list(evictionRequestType, { namespace })).items;
    expect(asking.map(({ spec }) => `${spec?.target?.pod?.name} ${spec?.requester}`).sort()).toEqual([
      'g-0 example.com/drain',
      'g-1 quorate.dev/notice',
    ]);
    for (const name of ['pod-1-g-0', 'pod-1-g-1']) {
      expect((await world.client.list(podType, { namespace })).items).toHaveLength(2);
      const current = await world.client.get(evictionType, { namespace, name });
      const completionTime = formatTime(world.clock.now());
      const responders = current.status?.responders?.map((one) =>
        one.name === SAVER ? { ...one, completionTime } : one,
      );
      await world.client.updateStatus(evictionType, { ...current, status: { ...current.status, responders } });
      await pass(5);
    }
    await pass(40);
    expect(told(await request(world, 'mine'))).toEqual(['Failed=False/Succeeded', 'TargetEvicted=True/PodDeleted']);
    expect((await world.client.list(podType, { namespace })).items).toEqual([]);
    const [made, ...more] = (await world.client.list(groupEvictionType, { namespace })).items;
    expect(more).toEqual([]);
    expect(made?.status?.notice?.state).toBe('Done');
  });
});
