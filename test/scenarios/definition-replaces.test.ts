import { afterEach, expect, test } from 'vitest';
import { leaderWorkerSetDefinition } from '../../src/api/crds/leader-worker-set.ts';
import { podUnavailableBudgetDefinition } from '../../src/api/crds/pod-unavailable-budget.ts';
import type { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import type { Event } from '../../src/api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../src/api/kruise/types.ts';
import { leaderWorkerSetType } from '../../src/api/lws/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { ManualClock } from '../../src/machinery/runtime/index.ts';
import { createMemoryStore, type Store } from '../../src/storage/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { codeOf, evict as askEviction } from '../shared/answers.ts';

const definitionType = builtinType(
  'CustomResourceDefinition',
  'apiextensions.k8s.io',
) as ResourceType<CustomResourceDefinition>;
const eventType = builtinType('Event', '') as ResourceType<Event>;
const namespace = 'default';
const SETS = leaderWorkerSetDefinition.metadata.name ?? '';
const BUDGETS = podUnavailableBudgetDefinition.metadata.name ?? '';

let plane: ControlPlane;
let store: Store | undefined;
afterEach(async () => {
  await plane.stop();
  await store?.close();
  store = undefined;
});

async function begin(seed = 1): Promise<void> {
  plane = await startControlPlane({ controllers: true, nodes: 3, seed, ...(store && { store }) });
  await run(5);
}

async function run(seconds: number): Promise<void> {
  await plane.clock.advance(seconds * 1000);
  await plane.settle();
}

/** As other software would write it: it knows one field of ours, and one that we do not. */
function definitionOf(ours: CustomResourceDefinition, version: string): CustomResourceDefinition {
  const keeps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = { spec: keeps, status: keeps, theirs: { type: 'string' } };
  return {
    metadata: { name: ours.metadata.name ?? '' },
    spec: {
      group: ours.spec?.group ?? '',
      scope: 'Namespaced',
      names: ours.spec?.names ?? { plural: '', kind: '' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } as never },
          subresources: { status: {} },
        },
      ],
    },
  };
}

const container = { name: 'c', image: 'app:1' };
const set = (name: string) => ({
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    leaderWorkerTemplate: {
      size: 2,
      workerTemplate: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    },
  },
});
const budget: PodUnavailableBudget = {
  metadata: { name: 'kept', namespace },
  spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
} as PodUnavailableBudget;

const podNames = async (): Promise<(string | undefined)[]> =>
  (await plane.client.list(podType, { namespace })).items.map(({ metadata }) => metadata.name);
const statusOf = async (name: string) => (await plane.client.get(definitionType, { name })).status;
const evict = (name: string): Promise<number> => codeOf(askEviction(plane.client, namespace, name), 201);
async function resourcesOf(path: string): Promise<string[]> {
  const { resources } = await plane.client.request<{ resources: { name: string }[] }>('GET', path);
  return resources.map(({ name }) => name);
}

async function runPod(name: string): Promise<void> {
  await plane.client.create(podType, {
    metadata: { name, namespace, labels: { app: 'web' } },
    spec: { containers: [container] },
  });
  await run(10);
}

test('23.3: the definition of LeaderWorkerSets takes over from ours: its schema serves, and no pod is made', async () => {
  await begin();
  await plane.client.create(leaderWorkerSetType, set('before'));
  await run(10);
  expect(await podNames()).toEqual(['before-0', 'before-0-1']);

  await plane.client.create(definitionType, definitionOf(leaderWorkerSetDefinition, 'v1'));
  await run(5);
  expect((await statusOf(SETS))?.conditions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'NamesAccepted', status: 'True' }),
      expect.objectContaining({ type: 'Established', status: 'True' }),
      expect.objectContaining({
        type: 'ReplacesBuiltIn',
        status: 'True',
        message: expect.stringContaining('Quorate makes no pods for LeaderWorkerSets and numbers none'),
      }),
    ]),
  );
  // Ours has a scale, theirs has none.
  expect(await resourcesOf('/apis/leaderworkerset.x-k8s.io/v1')).toEqual([
    'leaderworkersets',
    'leaderworkersets/status',
  ]);
  const { items: events } = await plane.client.list(eventType, {});
  expect(events.filter(({ reason }) => reason === 'ReplacesBuiltIn')).toMatchObject([
    { involvedObject: { kind: 'CustomResourceDefinition', name: SETS } },
  ]);

  // What there was is still there, and theirs to keep.
  const before = await plane.client.get(leaderWorkerSetType, { namespace, name: 'before' });
  expect(before).toMatchObject({ spec: { leaderWorkerTemplate: { size: 2 } }, status: { readyReplicas: 1 } });
  await plane.client.update(leaderWorkerSetType, { ...before, spec: { ...before.spec, replicas: 3 } });
  await plane.client.create(leaderWorkerSetType, { ...set('after'), theirs: 'x' } as never);
  await run(20);
  expect(await podNames()).toEqual(['before-0', 'before-0-1']);
  expect(await plane.client.get(leaderWorkerSetType, { namespace, name: 'after' })).toMatchObject({ theirs: 'x' });

  await plane.client.delete(definitionType, { name: SETS });
  await run(20);
  await expect(plane.client.get(definitionType, { name: SETS })).rejects.toMatchObject({ code: 404 });
  expect(await podNames()).toEqual([]);
  expect(await resourcesOf('/apis/leaderworkerset.x-k8s.io/v1')).toContain('leaderworkersets/scale');
  await plane.client.create(leaderWorkerSetType, set('again'));
  await run(20);
  expect(await podNames()).toEqual(['again-0', 'again-0-1']);
});

test('23.3: a definition that has taken over has still taken over after a restart', async () => {
  store = createMemoryStore();
  await begin();
  await plane.client.create(definitionType, definitionOf(leaderWorkerSetDefinition, 'v1'));
  await plane.client.create(definitionType, definitionOf(podUnavailableBudgetDefinition, 'v1alpha1'));
  await run(5);
  await plane.stop();
  await begin(2);
  await plane.client.create(leaderWorkerSetType, set('after'));
  await run(20);
  expect(await podNames()).toEqual([]);
  expect(await resourcesOf('/apis/policy.kruise.io/v1alpha1')).toEqual([
    'podunavailablebudgets',
    'podunavailablebudgets/status',
  ]);
  await plane.client.delete(definitionType, { name: SETS });
  await run(20);
  await plane.client.create(leaderWorkerSetType, set('again'));
  await run(20);
  expect(await podNames()).toEqual(['again-0', 'again-0-1']);
});

test('23.3: the definition of PodUnavailableBudgets takes over from ours: budgets stay readable and guard nothing', async () => {
  await begin();
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, budget);
  await runPod('web-1');
  expect(await evict('web-1')).toBe(429);

  await plane.client.create(definitionType, definitionOf(podUnavailableBudgetDefinition, 'v1alpha1'));
  await run(5);
  expect((await statusOf(BUDGETS))?.conditions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        type: 'ReplacesBuiltIn',
        message: expect.stringContaining('asks none about evictions, deletes and updates of pods'),
      }),
    ]),
  );
  const alpha = { ...POD_UNAVAILABLE_BUDGETS, version: 'v1alpha1' };
  expect(await plane.client.get(alpha, { namespace, name: 'kept' })).toMatchObject({ spec: { minAvailable: 1 } });
  // What ours would refuse is theirs to judge.
  const strange = { ...budget, metadata: { name: 'strange', namespace }, spec: { maxUnavailable: '120%' } };
  await plane.client.create(alpha, strange as never);
  expect(await evict('web-1')).toBe(201);
  await run(60);

  await plane.client.delete(definitionType, { name: BUDGETS });
  await run(20);
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, budget);
  await runPod('web-2');
  expect(await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'kept' })).toMatchObject({
    status: { currentAvailable: 1, unavailableAllowed: 0 },
  });
  expect(await evict('web-2')).toBe(429);
});

test('23.3: a definition of LeaderWorkerSets in another version holds up no other controller after a restart', async () => {
  store = createMemoryStore();
  await begin();
  await plane.client.create(definitionType, definitionOf(leaderWorkerSetDefinition, 'v2'));
  await run(5);
  await plane.stop();
  const clock = new ManualClock();
  const starting = startControlPlane({ controllers: true, nodes: 3, seed: 2, store, clock });
  for (let second = 0; second < 90; second += 1) await clock.advance(1000);
  plane = await starting;
  // The controller of such budgets counts the pods of LeaderWorkerSets too.
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, budget);
  await runPod('web-1');
  expect(await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'kept' })).toMatchObject({
    status: { currentAvailable: 1 },
  });
});

test('23.3: a definition whose names are not accepted takes nothing over', async () => {
  await begin();
  const other = definitionOf(leaderWorkerSetDefinition, 'v1');
  const names = { plural: 'otherworkersets', singular: 'otherworkerset', kind: 'LeaderWorkerSet' };
  await plane.client.create(definitionType, {
    metadata: { name: 'otherworkersets.leaderworkerset.x-k8s.io' },
    spec: { ...other.spec, names } as never,
  });
  await run(5);
  expect((await statusOf('otherworkersets.leaderworkerset.x-k8s.io'))?.conditions).toMatchObject([
    { type: 'NamesAccepted', status: 'False', reason: 'KindConflict' },
    { type: 'Established', status: 'False' },
  ]);
  await plane.client.create(leaderWorkerSetType, set('ours'));
  await run(20);
  expect(await podNames()).toEqual(['ours-0', 'ours-0-1']);
});
