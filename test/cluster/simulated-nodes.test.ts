import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import { deploymentType, leaseType, nodeType, podType } from '../../src/api/resource-types.ts';
import { type NodesHost, startNodes } from '../../src/app/index.ts';
import { type Client, isNotFound, silentLogger } from '../../src/machinery/runtime/index.ts';
import { deployment } from '../../src/testkit/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';

let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;

beforeAll(async () => {
  plane = await startRealControlPlane({ components: ['kube-scheduler', 'kube-controller-manager'] });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2, prefix: 'sim-' } });
});
afterAll(async () => {
  nodes?.stop();
  await plane?.stop();
});

const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 250 });
const podsOf = async () => (await client.list(podType, { namespace: 'default', labelSelector: 'app=web' })).items;

test('simulated nodes register with a real API server and keep their Leases', async () => {
  await soon(async () =>
    (await client.list(nodeType)).items.map(
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    ),
  ).toEqual(['True', 'True']);
  await soon(async () => (await client.list(leaseType, { namespace: 'kube-node-lease' })).items.length).toBe(2);
});

test('the real scheduler and controllers run a Deployment on simulated nodes', async () => {
  await client.create(deploymentType, deployment({ name: 'web', replicas: 4 }));
  await soon(
    async () => (await client.get(deploymentType, { namespace: 'default', name: 'web' })).status?.readyReplicas,
  ).toBe(4);
  const addresses = (await podsOf()).map(({ status }) => status?.podIP);
  expect(new Set(addresses).size).toBe(4);

  // Quiet means quiet: a status that the server spells differently would be written over and over.
  const versions = async () => (await podsOf()).map(({ metadata }) => metadata.resourceVersion);
  await soon(async () => {
    const before = await versions();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return JSON.stringify(before) === JSON.stringify(await versions());
  }).toBe(true);
});

test('pods of a real control plane follow a rollout and go when they are deleted', async () => {
  const body = { spec: { template: { spec: { containers: [{ name: 'main', image: 'web:2' }] } } } };
  await client.patch(deploymentType, { namespace: 'default', name: 'web' }, { type: 'strategic', body });
  await soon(async () => (await podsOf()).map(({ spec }) => spec?.containers[0]?.image)).toEqual(
    Array.from({ length: 4 }, () => 'web:2'),
  );
  await client.delete<Deployment>(
    deploymentType,
    { namespace: 'default', name: 'web' },
    { propagationPolicy: 'Foreground' },
  );
  await soon(async () => (await podsOf()).length).toBe(0);
  await soon(() =>
    client.get(deploymentType, { namespace: 'default', name: 'web' }).then(() => false, isNotFound),
  ).toBe(true);
});
