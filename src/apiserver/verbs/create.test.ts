import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiError } from '../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';

let plane: ControlPlane;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const NAMESPACE = '/api/v1/namespaces/default';

beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const create = <T>(plural: string, body: object): Promise<T> =>
  plane.client.request<T>('POST', `${NAMESPACE}/${plural}`, body);
const refusal = async (plural: string, body: object): Promise<string | undefined> =>
  ((await create(plural, body).catch((error: unknown) => error)) as ApiError).message;

const pod = (name: string, image = 'nginx', annotations = {}): object => ({
  metadata: { name, annotations },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image }] },
});

test('of replicas only what is the same is not checked again', async () => {
  await create('pods', pod('a'));
  await create('pods', pod('b'));
  const cost = { 'controller.kubernetes.io/pod-deletion-cost': 'much' };
  expect(await refusal('pods', pod('c', 'nginx', cost))).toContain('must be a 32bit integer');
  expect(await refusal('pods', pod('Not a name'))).toContain('metadata.name');
  // What was refused is not taken for sound when it comes again.
  for (let time = 0; time < 2; time += 1) {
    expect(await refusal('pods', pod('c', ''))).toContain('spec.containers[0].image');
  }
});

test('objects made one after the other keep what is theirs', async () => {
  const images = ['one', 'one', 'two', 'one'];
  for (const [at, image] of images.entries()) await create('pods', pod(`own-${at}`, image));
  interface Pod {
    spec: { containers: { image: string }[] };
    status: { phase: string };
  }
  const get = (at: number) => plane.client.request<Pod>('GET', `${NAMESPACE}/pods/own-${at}`);
  for (const [at, image] of images.entries()) expect((await get(at)).spec.containers[0]?.image).toBe(image);
  await plane.client.request('PATCH', `${NAMESPACE}/pods/own-0/status`, { status: { phase: 'Running' } }, MERGE);
  expect([(await get(0)).status.phase, (await get(1)).status.phase]).toEqual(['Running', 'Pending']);
});

test('a node port given to one Service is not given to the one made before', async () => {
  const ports = [{ port: 80, targetPort: 80, protocol: 'TCP' }];
  const first = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports };
  await create('services', { metadata: { name: 'first' }, spec: first });
  interface Service {
    spec: { ports: { nodePort?: number }[]; clusterIP: string };
  }
  const second = await create<Service>('services', { metadata: { name: 'second' }, spec: { type: 'NodePort', ports } });
  expect(second.spec.ports[0]?.nodePort).toBeGreaterThan(0);
  // A write makes the object anew out of what is remembered of it.
  const kept = await plane.client.request<Service>(
    'PATCH',
    `${NAMESPACE}/services/first`,
    { metadata: { labels: { seen: 'yes' } } },
    MERGE,
  );
  expect(kept.spec.ports).toEqual(ports);
  expect(kept.spec.clusterIP).not.toBe(second.spec.clusterIP);
});

test('who makes a Service anew as it was owns the address that it was given before', async () => {
  interface Service {
    metadata: { managedFields: { fieldsV1: { 'f:spec': object } }[] };
    spec: { clusterIP: string };
  }
  const ports = [{ port: 80, targetPort: 80, protocol: 'TCP' }];
  const given = await create<Service>('services', { metadata: { name: 'again' }, spec: { ports } });
  const owned = (service: Service): object => service.metadata.managedFields[0]?.fieldsV1['f:spec'] ?? {};
  expect(owned(given)).not.toHaveProperty('f:clusterIP');
  await plane.client.request('DELETE', `${NAMESPACE}/services/again`);
  const anew = await create<Service>('services', { metadata: { name: 'again' }, spec: given.spec });
  expect(anew.spec).toEqual(given.spec);
  expect(owned(anew)).toHaveProperty('f:clusterIP');
});
