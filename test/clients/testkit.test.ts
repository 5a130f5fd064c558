/** What other people's tests do with `quorate/testkit`: real clients on a free port, time moved by hand. */
import { existsSync } from 'node:fs';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { afterEach, expect, test } from 'vitest';
import { deploymentType, podType } from '../../src/api/resource-types.ts';
import { deployment, type ServedControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let plane: ServedControlPlane | undefined;
let kubectl: Kubectl | undefined;
afterEach(async () => {
  kubectl?.close();
  await plane?.stop();
  plane = undefined;
});

async function start(): Promise<{ plane: ServedControlPlane; kubectl: Kubectl; config: KubeConfig }> {
  plane = await startControlPlane({ port: 0, controllers: true, nodes: 2 });
  kubectl = createKubectl(plane.kubeconfig);
  const config = new KubeConfig();
  config.loadFromFile(plane.kubeconfig);
  await plane.clock.advance(5000);
  return { plane, kubectl, config };
}

test('kubectl and the test see one plane, in which time passes only when the test says so', async () => {
  const { kubectl, plane } = await start();
  await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=3']);
  const ready = () => kubectl.out('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}');
  await plane.settle();
  expect(await ready()).toBe('');
  await plane.clock.advance(10_000);
  expect(await ready()).toBe('3');
  const { items } = await plane.client.list(podType, { namespace: 'default' });
  expect(items).toHaveLength(3);
  expect(await kubectl.out('auth', 'can-i', '*', '*')).toBe('yes');
  expect(await kubectl.out('get', 'nodes', '--no-headers')).toMatch(/^node-0 +Ready[^]*\nnode-1 +Ready/);
}, 300_000);

test('an informer of client-node follows what the test does', async () => {
  const { config, plane } = await start();
  const api = config.makeApiClient(CoreV1Api);
  const list = () => api.listNamespacedPod({ namespace: 'default' });
  const informer = makeInformer(config, '/api/v1/namespaces/default/pods', list);
  await informer.start();
  await plane.client.create(deploymentType, deployment({ name: 'web', replicas: 2 }));
  await plane.clock.advance(10_000);
  const phases = () => informer.list('default').map(({ status }) => status?.phase);
  await expect.poll(phases, { timeout: 120_000 }).toEqual(['Running', 'Running']);
  await informer.stop();
}, 300_000);

test('with a port, access is checked as on a cluster, and stopping leaves nothing behind', async () => {
  const { config, plane } = await start();
  const stranger = new KubeConfig();
  const { caData } = config.getCurrentCluster() ?? {};
  const cluster = { name: 'c', server: plane.url, skipTLSVerify: false, ...(caData && { caData }) };
  stranger.loadFromClusterAndUser(cluster, { name: 'nobody' });
  const asked = stranger.makeApiClient(CoreV1Api).listNamespacedPod({ namespace: 'default' });
  await expect(asked).rejects.toMatchObject({ code: 403 });
  const limited = plane.clientFor('bob').list(podType, { namespace: 'default' });
  await expect(limited).rejects.toThrow('User "bob" cannot list resource "pods"');
  const { kubeconfig } = plane;
  expect(existsSync(kubeconfig)).toBe(true);
  await plane.stop();
  expect(existsSync(kubeconfig)).toBe(false);
  await expect(config.makeApiClient(CoreV1Api).listNode()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
}, 300_000);
