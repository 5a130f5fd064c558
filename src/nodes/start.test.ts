import { afterEach, expect, test } from 'vitest';
import type { Node, Pod } from '../api/generated/core-v1.ts';
import { leaseType, nodeType, podType } from '../api/resource-types.ts';
import { isNotFound, type Controller } from '../machinery/runtime/index.ts';
import { type ControlPlane, pod, startControlPlane } from '../testkit/index.ts';
import { POWER } from './annotations.ts';
import { createSimulatedNodes } from './start.ts';
import type { SimulatedNodesOptions } from './start.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
async function withNodes(options: SimulatedNodesOptions = { count: 2 }): Promise<ControlPlane> {
  const nodes: Controller = createSimulatedNodes(options);
  plane = await startControlPlane({ controllers: [nodes] });
  await plane.settle();
  return plane;
}
const onNode = (name: string, over: Parameters<typeof pod>[0] = {}): Pod =>
  pod({ ...over, name, spec: { ...over.spec, nodeName: 'node-0' } });
const key = (name: string) => ({ namespace: 'default', name });
const ready = ({ status }: Node | Pod): string | undefined =>
  status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.status;

test('simulated nodes register with all a kubelet reports, and keep their Leases fresh', async () => {
  const { client, clock } = await withNodes();
  const node = await client.get(nodeType, { name: 'node-1' });
  expect(ready(node)).toBe('True');
  expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux' });
  expect(node.status?.allocatable).toMatchObject({ cpu: '16', pods: '110' });
  expect(Object.values(node.status?.nodeInfo ?? {}).every((value) => value !== '')).toBe(true);
  await clock.advance(60 * SECOND);
  const lease = await client.get(leaseType, { namespace: 'kube-node-lease', name: 'node-1' });
  expect(clock.now() - Date.parse(lease.spec?.renewTime ?? '')).toBeLessThanOrEqual(10 * SECOND);
  expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'node-1', uid: node.metadata.uid }]);
});

test('a pod bound to a simulated node runs, and each has an address of its own', async () => {
  const { client, clock } = await withNodes();
  for (const name of ['a', 'b', 'c']) await client.create(podType, onNode(name));
  await clock.advance(SECOND);
  const { items } = await client.list(podType, { namespace: 'default' });
  expect(items.map(ready)).toEqual(['True', 'True', 'True']);
  expect(new Set(items.map(({ status }) => status?.podIP)).size).toBe(3);
  expect(items[0]?.status).toMatchObject({ phase: 'Running', observedGeneration: 1, hostIP: expect.any(String) });
});

test('a deleted pod stops within its grace period and is then removed', async () => {
  const { client, clock } = await withNodes();
  await client.create(podType, onNode('a'));
  await clock.advance(SECOND);
  await client.delete(podType, key('a'));
  await clock.advance(100);
  expect((await client.get(podType, key('a'))).metadata.deletionTimestamp).toBeDefined();
  await clock.advance(SECOND);
  await expect(client.get(podType, key('a'))).rejects.toSatisfy(isNotFound);
});

test('a pod with a finalizer is asked to go and stays, ended, until the finalizer is taken off', async () => {
  const { client, clock } = await withNodes();
  const held = onNode('a');
  await client.create(podType, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
  await clock.advance(SECOND);
  await client.delete(podType, key('a'));
  await clock.advance(2 * SECOND);
  const ended = await client.get(podType, key('a'));
  expect(ended.status?.phase).toBe('Failed');
  await client.patch(podType, key('a'), { type: 'merge', body: { metadata: { finalizers: null } } });
  await clock.advance(SECOND);
  await expect(client.get(podType, key('a'))).rejects.toSatisfy(isNotFound);
});

test('a phase that another party ended is left alone', async () => {
  const { client, clock } = await withNodes();
  await client.create(podType, onNode('a'));
  await clock.advance(SECOND);
  const patch = { type: 'merge', body: { status: { phase: 'Failed' } } } as const;
  await client.patch(podType, key('a'), patch, { subresource: 'status' });
  await clock.advance(60 * SECOND);
  expect((await client.get(podType, key('a'))).status?.phase).toBe('Failed');
});

test('a node without power falls silent and its pods freeze until it is back', async () => {
  const { client, clock } = await withNodes();
  await client.create(podType, onNode('a'));
  await clock.advance(SECOND);
  const power = (value: string | null) =>
    client.patch(
      nodeType,
      { name: 'node-0' },
      { type: 'merge', body: { metadata: { annotations: { [POWER]: value } } } },
    );
  await power('off');
  await clock.advance(30 * SECOND);
  const renewed = async () =>
    Date.parse((await client.get(leaseType, { namespace: 'kube-node-lease', name: 'node-0' })).spec?.renewTime ?? '');
  expect(clock.now() - (await renewed())).toBeGreaterThanOrEqual(30 * SECOND);
  await client.delete(podType, key('a'));
  await clock.advance(60 * SECOND);
  expect((await client.get(podType, key('a'))).status?.phase).toBe('Running');
  await power(null);
  await clock.advance(20 * SECOND);
  await expect(client.get(podType, key('a'))).rejects.toSatisfy(isNotFound);
  expect(clock.now() - (await renewed())).toBeLessThanOrEqual(10 * SECOND);
});

test('extended resources put into capacity stay and become allocatable', async () => {
  const { client, clock } = await withNodes();
  const body = { status: { capacity: { 'example.com/gpu': '8' } } };
  await client.patch(nodeType, { name: 'node-0' }, { type: 'strategic', body }, { subresource: 'status' });
  await clock.advance(20 * SECOND);
  const { status } = await client.get(nodeType, { name: 'node-0' });
  expect(status?.capacity?.['example.com/gpu']).toBe('8');
  expect(status?.allocatable?.['example.com/gpu']).toBe('8');
});

test('a node that somebody else created is played once it is annotated as simulated', async () => {
  const { client, clock } = await withNodes({ count: 1 });
  const annotations = { 'nodes.quorate.dev/simulated': 'true' };
  await client.create(nodeType, { metadata: { name: 'guest', annotations }, spec: {} });
  await client.create(podType, pod({ name: 'a', spec: { nodeName: 'guest' } }));
  await clock.advance(SECOND);
  expect(ready(await client.get(nodeType, { name: 'guest' }))).toBe('True');
  expect(ready(await client.get(podType, key('a')))).toBe('True');
});

test('pods that are ready stay so when the clock of their node is set back', async () => {
  const { client, clock } = await withNodes();
  await client.create(podType, onNode('a'));
  await clock.advance(60 * SECOND);
  clock.set(clock.now() - 3600 * SECOND);
  // Any change makes the node look at the pod again.
  await client.patch(podType, key('a'), { type: 'merge', body: { metadata: { labels: { seen: 'again' } } } });
  await clock.advance(SECOND);
  expect(ready(await client.get(podType, key('a')))).toBe('True');
});
