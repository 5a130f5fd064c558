import { afterEach, expect, test } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { leaderWorkerSetType } from '../../../src/api/lws/types.ts';
import { deploymentType, namespaceType, podType } from '../../../src/api/resource-types.ts';
import { isNotFound } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

const namespace = 'inference';
let plane: ControlPlane;
afterEach(() => plane.stop());

const template = {
  metadata: { labels: { app: 'llm' } },
  spec: { containers: [{ name: 'serve', image: 'serve:1' }] },
};

async function begin(): Promise<void> {
  plane = await startControlPlane({ controllers: true, nodes: 3 });
  const { client, clock } = plane;
  await clock.advance(5_000);
  await client.create(namespaceType, { metadata: { name: namespace } });
  await client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, minAvailable: 2 },
  });
}

const deploy = () =>
  plane.client.create(deploymentType, {
    metadata: { name: 'llm', namespace },
    spec: { replicas: 3, selector: { matchLabels: { app: 'llm' } }, template },
  });

async function podNames(): Promise<string[]> {
  const { items } = await plane.client.list(podType, { namespace });
  return items.map(({ metadata }) => metadata.name ?? '');
}

const deleteByHand = async (): Promise<string> => {
  const outcomes: string[] = [];
  for (const name of await podNames()) {
    const answer = plane.client.delete(podType, { namespace, name });
    outcomes.push(await answer.then(() => 'gone').catch((error: Error) => error.message));
  }
  return outcomes.join('\n');
};

test('18.5: a namespace with a PodUnavailableBudget can be deleted', async () => {
  await begin();
  await deploy();
  await plane.clock.advance(10_000);
  expect(await podNames()).toHaveLength(3);
  await plane.client.delete(namespaceType, { name: namespace });
  await plane.clock.advance(120_000);
  const answer = plane.client.get(namespaceType, { name: namespace });
  expect(await answer.then(() => 'there').catch((error: unknown) => isNotFound(error))).toBe(true);
});

for (const propagationPolicy of ['Background', 'Foreground'] as const) {
  test(`18.5: a Deployment deleted in the ${propagationPolicy.toLowerCase()} leaves no pods under minAvailable`, async () => {
    await begin();
    await deploy();
    await plane.clock.advance(10_000);
    expect(await deleteByHand(), 'people are held to it while it serves').toContain('podunavailablebudget');
    await plane.clock.advance(10_000);
    await plane.client.delete(deploymentType, { namespace, name: 'llm' }, { propagationPolicy });
    await plane.clock.advance(120_000);
    expect(await podNames()).toEqual([]);
  });
}

test('18.5: a LeaderWorkerSet deleted under minAvailable leaves no pods', async () => {
  await begin();
  await plane.client.create(leaderWorkerSetType, {
    metadata: { name: 'llm', namespace },
    spec: { replicas: 2, leaderWorkerTemplate: { size: 3, workerTemplate: template } },
  });
  await plane.clock.advance(15_000);
  expect(await podNames()).toHaveLength(6);
  await plane.client.delete(leaderWorkerSetType, { namespace, name: 'llm' });
  await plane.clock.advance(120_000);
  expect(await podNames()).toEqual([]);
});
