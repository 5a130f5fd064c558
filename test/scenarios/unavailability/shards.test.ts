import { afterEach, beforeEach, expect, test } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType, LWS } from '../../../src/api/lws/types.ts';
import { deploymentType, namespaceType, podType, statefulSetType } from '../../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { codeOf, evict as askEviction } from '../../shared/answers.ts';

const namespace = 'inference';
let plane: ControlPlane;

beforeEach(async () => {
  plane = await startControlPlane({ nodes: 3, controllers: true });
  await plane.client.create(namespaceType, { metadata: { name: namespace } });
  await run(2);
});
afterEach(() => plane.stop());

/** Lets seconds pass, with everything reacting. */
async function run(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await plane.clock.advance(1000);
    await plane.settle();
  }
}

const template = (role: string) => ({
  metadata: { labels: { app: 'llm-serving', role } },
  spec: { containers: [{ name: role, image: `example.com/${role}:latest` }] },
});

/** The proposal's own objects: no size named, three groups of one leader and two workers. */
async function applyStory(): Promise<void> {
  await plane.client.create(kruiseLeaderWorkerSetType, {
    metadata: { name: 'llm-serving', namespace },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'llm-serving' } },
      leaderTemplate: template('leader'),
      workerTemplate: template('worker'),
    },
  });
  await plane.client.create(
    { ...POD_UNAVAILABLE_BUDGETS, version: 'v1alpha1' },
    {
      metadata: { name: 'llm-serving-budget', namespace },
      spec: {
        selector: { matchLabels: { app: 'llm-serving' } },
        maxUnavailable: 1,
        podGroupPolicy: { groupLabelKey: LWS.groupIndex, minReadyReplicas: 3 },
      },
    },
  );
  await run(10);
}

const budgetStatus = async () =>
  (await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'llm-serving-budget' })).status ?? {};

const evict = (name: string): Promise<number> => codeOf(askEviction(plane.client, namespace, name), 201);

const uidOf = async (name: string): Promise<string | undefined> =>
  (await plane.client.get(podType, { namespace, name })).metadata.uid;

test('the proposal verbatim serves as three groups of three, each with its marks', async () => {
  await applyStory();
  const { items } = await plane.client.list(podType, { namespace });
  expect(items.map(({ metadata }) => metadata.name)).toEqual([
    'llm-serving-0',
    'llm-serving-0-1',
    'llm-serving-0-2',
    'llm-serving-1',
    'llm-serving-1-1',
    'llm-serving-1-2',
    'llm-serving-2',
    'llm-serving-2-1',
    'llm-serving-2-2',
  ]);
  for (const { metadata } of items) {
    expect(metadata.labels?.[LWS.groupIndex]).toBe(metadata.name?.split('-')[2]);
    expect(metadata.annotations?.[LWS.size]).toBe('3');
    expect(metadata.annotations?.['pub.kruise.io/related-pub']).toBe('llm-serving-budget');
  }
  expect(await budgetStatus()).toMatchObject({
    totalReplicas: 3,
    desiredAvailable: 2,
    currentAvailable: 3,
    unavailableAllowed: 1,
  });
  const set = await plane.client.get(kruiseLeaderWorkerSetType, { namespace, name: 'llm-serving' });
  expect(set.status).toMatchObject({ replicas: 3, readyReplicas: 3, updatedReplicas: 3 });
});

test('one worker of shard 0 may go, then no pod of the others, then the rest of shard 0; later the next shard', async () => {
  await applyStory();
  const before = await uidOf('llm-serving-0');
  expect(await evict('llm-serving-0-1')).toBe(201);
  expect(await evict('llm-serving-1')).toBe(429);
  expect(await evict('llm-serving-2-2')).toBe(429);
  expect(await evict('llm-serving-0-2')).toBe(201);
  expect(await evict('llm-serving-0')).toBe(201);
  await run(60);
  expect(await uidOf('llm-serving-0')).not.toBe(before);
  expect(await budgetStatus()).toMatchObject({ currentAvailable: 3, unavailableAllowed: 1 });
  expect(await evict('llm-serving-1')).toBe(201);
});

test('losing one worker replaces its whole group and leaves the others alone', async () => {
  await applyStory();
  const [leader, other] = [await uidOf('llm-serving-0'), await uidOf('llm-serving-1')];
  await plane.client.delete(podType, { namespace, name: 'llm-serving-0-1' });
  await run(60);
  expect(await uidOf('llm-serving-0')).not.toBe(leader);
  expect(await uidOf('llm-serving-1')).toBe(other);
  expect((await plane.client.list(podType, { namespace })).items).toHaveLength(9);
});

test('a new template replaces group after group, never more than one at a time', async () => {
  const pod = (image: string) => ({
    metadata: { labels: { app: 'llm' } },
    spec: { containers: [{ name: 'c', image }] },
  });
  await plane.client.create(leaderWorkerSetType, {
    metadata: { name: 'llm', namespace },
    spec: { replicas: 3, leaderWorkerTemplate: { size: 2, workerTemplate: pod('app:1') } },
  });
  await run(10);
  const set = await plane.client.get(leaderWorkerSetType, { namespace, name: 'llm' });
  expect(set.status?.readyReplicas).toBe(3);
  await plane.client.update(leaderWorkerSetType, {
    ...set,
    spec: { ...set.spec, leaderWorkerTemplate: { ...set.spec?.leaderWorkerTemplate, workerTemplate: pod('app:2') } },
  });
  let lowest = 3;
  for (let second = 0; second < 240; second += 1) {
    await run(1);
    const { status } = await plane.client.get(leaderWorkerSetType, { namespace, name: 'llm' });
    lowest = Math.min(lowest, status?.readyReplicas ?? 0);
    if (status?.updatedReplicas === 3 && status.readyReplicas === 3) break;
  }
  const { items } = await plane.client.list(podType, { namespace });
  expect(items.map(({ spec }) => spec?.containers[0]?.image)).toEqual(Array.from({ length: 6 }, () => 'app:2'));
  expect(lowest).toBeGreaterThanOrEqual(2);
});

test('scaling the set scales the budget with it', async () => {
  await applyStory();
  const set = await plane.client.get(kruiseLeaderWorkerSetType, { namespace, name: 'llm-serving' });
  await plane.client.update(kruiseLeaderWorkerSetType, { ...set, spec: { ...set.spec, replicas: 5 } });
  await run(10);
  expect(await budgetStatus()).toMatchObject({ totalReplicas: 5, desiredAvailable: 4, currentAvailable: 5 });
  expect((await plane.client.list(statefulSetType, { namespace })).items).toHaveLength(6);
});

test('C1 C7 a budget over a Deployment counts its pods; at scale 0 nothing is guarded', async () => {
  await plane.client.create(deploymentType, {
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:1' }] } },
    },
  });
  for (const [name, spec] of [
    ['by-selector', { selector: { matchLabels: { app: 'web' } } }],
    ['by-target', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }],
  ] as const) {
    await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
      metadata: { name, namespace },
      spec: { maxUnavailable: '30%', ...spec },
    });
  }
  await run(10);
  for (const name of ['by-selector', 'by-target']) {
    const { status } = await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name });
    expect(status).toMatchObject({
      totalReplicas: 10,
      desiredAvailable: 7,
      currentAvailable: 10,
      unavailableAllowed: 3,
    });
  }
});
