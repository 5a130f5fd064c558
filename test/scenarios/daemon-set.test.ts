import { afterEach, expect, test } from 'vitest';
import type { DaemonSet, DaemonSetSpec } from '../../src/api/generated/apps-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { controllerRevisionType, daemonSetType, nodeType, podType } from '../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
const key = { namespace: 'default', name: 'agent' };
const template = (image: string) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'main', image }] },
});
const agent = (spec: Partial<DaemonSetSpec> = {}): DaemonSet => ({
  metadata: key,
  spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent:1'), ...spec },
});
async function threeNodes(spec: Partial<DaemonSetSpec> = {}): Promise<ControlPlane> {
  plane = await startControlPlane({ controllers: true, nodes: 3 });
  await plane.clock.advance(5 * SECOND);
  await plane.client.create(daemonSetType, agent(spec));
  await plane.clock.advance(5 * SECOND);
  return plane;
}
const podsOf = async ({ client }: ControlPlane): Promise<Pod[]> =>
  (await client.list(podType, { namespace: 'default' })).items;
const placed = async (on: ControlPlane): Promise<string[]> =>
  (await podsOf(on)).map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`).toSorted();
const statusOf = async ({ client }: ControlPlane) => (await client.get(daemonSetType, key)).status;
const patchNode = ({ client }: ControlPlane, name: string, body: object) =>
  client.patch(nodeType, { name }, { type: 'merge', body });

test('a DaemonSet runs one pod on every node, also on a cordoned one, and follows labels and new nodes', async () => {
  const on = await threeNodes();
  expect(await placed(on)).toEqual(['node-0 agent:1', 'node-1 agent:1', 'node-2 agent:1']);
  expect(await statusOf(on)).toMatchObject({ desiredNumberScheduled: 3, numberReady: 3, numberAvailable: 3 });
  await patchNode(on, 'node-1', { spec: { unschedulable: true } });
  await on.client.create(nodeType, {
    metadata: { name: 'node-9', annotations: { 'nodes.quorate.dev/simulated': 'true' } },
  });
  await on.clock.advance(5 * SECOND);
  expect((await statusOf(on))?.numberReady).toBe(4);
  const nodeSelector = { pool: 'a' };
  await on.client.patch(daemonSetType, key, {
    type: 'merge',
    body: { spec: { template: { spec: { nodeSelector } } } },
  });
  await patchNode(on, 'node-2', { metadata: { labels: { pool: 'a' } } });
  await on.clock.advance(20 * SECOND);
  expect(await placed(on)).toEqual(['node-2 agent:1']);
});

test('a DaemonSet replaces its pods one node at a time, and rolls back to the same revision', async () => {
  const on = await threeNodes();
  const before = (await podsOf(on)).map(({ metadata }) => metadata.labels?.['controller-revision-hash']);
  const roll = (image: string) =>
    on.client.patch(daemonSetType, key, { type: 'merge', body: { spec: { template: template(image) } } });
  await roll('agent:2');
  for (let step = 0; step < 60; step += 1) {
    await on.clock.advance(250);
    const unready = 3 - ((await statusOf(on))?.numberAvailable ?? 0);
    expect(unready).toBeLessThanOrEqual(1);
  }
  expect(await placed(on)).toEqual(['node-0 agent:2', 'node-1 agent:2', 'node-2 agent:2']);
  await roll('agent:1');
  await on.clock.advance(15 * SECOND);
  const after = (await podsOf(on)).map(({ metadata }) => metadata.labels?.['controller-revision-hash']);
  expect(after).toEqual(before);
  expect((await on.client.list(controllerRevisionType, { namespace: 'default' })).items).toHaveLength(2);
});

test('a DaemonSet that surges adds the new pod before it removes the old', async () => {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  const on = await threeNodes({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
  await on.client.patch(daemonSetType, key, { type: 'merge', body: { spec: { template: template('agent:2') } } });
  for (let step = 0; step < 60; step += 1) {
    await on.clock.advance(250);
    expect((await statusOf(on))?.numberAvailable).toBe(3);
  }
  expect(await placed(on)).toEqual(['node-0 agent:2', 'node-1 agent:2', 'node-2 agent:2']);
});

test('a DaemonSet brings back a pod that failed, and leaves outdated ones under OnDelete', async () => {
  const on = await threeNodes({ updateStrategy: { type: 'OnDelete' } });
  const [first] = await podsOf(on);
  const name = first?.metadata.name ?? '';
  const failed = { type: 'merge', body: { status: { phase: 'Failed' } } } as const;
  await on.client.patch(podType, { namespace: 'default', name }, failed, { subresource: 'status' });
  await on.clock.advance(10 * SECOND);
  expect((await statusOf(on))?.numberReady).toBe(3);
  await on.client.patch(daemonSetType, key, { type: 'merge', body: { spec: { template: template('agent:2') } } });
  await on.clock.advance(10 * SECOND);
  expect(new Set(await placed(on))).toEqual(new Set(['node-0 agent:1', 'node-1 agent:1', 'node-2 agent:1']));
  expect((await statusOf(on))?.updatedNumberScheduled ?? 0).toBe(0);
});
