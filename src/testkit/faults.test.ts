import { afterEach, expect, test } from 'vitest';
import { createClient, createHttpTransport, loadKubeconfig } from '../machinery/runtime/index.ts';
import {
  type ControlPlane,
  ConnectionLost,
  configMap,
  configMapType,
  pod,
  podType,
  startControlPlane,
} from './index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const key = { namespace: 'default', name: 'm' };

test('answer() fails as many requests as it is told, and never those of the test itself', async () => {
  plane = await startControlPlane();
  const fault = plane.faults.answer(503, { method: 'POST', path: '/configmaps', times: 2 });
  const client = plane.clientFor('operator');
  const create = () => client.create(configMapType, configMap({ name: 'm' }));
  await expect(create()).rejects.toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  await plane.client.create(configMapType, configMap({ name: 'mine' }));
  await client.create(podType, pod());
  await expect(create()).rejects.toMatchObject({ code: 503 });
  await create();
  expect(fault.met).toBe(2);
});

test('lose() keeps a request from the server, loseAnswers() only its answer from the client', async () => {
  plane = await startControlPlane();
  const client = plane.clientFor('operator');
  const create = () => client.create(configMapType, configMap({ name: 'm' }));
  plane.faults.lose({ times: 1, from: 'operator' });
  await expect(create()).rejects.toThrow(ConnectionLost);
  expect(
    (await plane.client.list(configMapType, { namespace: 'default', fieldSelector: 'metadata.name=m' })).items,
  ).toEqual([]);
  plane.faults.loseAnswers({ times: 1 });
  await expect(create()).rejects.toThrow(ConnectionLost);
  expect((await plane.client.get(configMapType, key)).metadata.name).toBe('m');
});

test('delay() holds a request by the clock of the plane', async () => {
  plane = await startControlPlane();
  const late = plane.faults.delay(5000, { path: /\/configmaps\/m$/ });
  await plane.client.create(configMapType, configMap({ name: 'm' }));
  let answered = false;
  const reading = plane
    .clientFor('operator')
    .get(configMapType, key)
    .then(() => (answered = true));
  await plane.clock.advance(4999);
  expect(answered).toBe(false);
  await plane.clock.advance(1);
  await reading;
  late.stop();
  await plane.clientFor('operator').get(configMapType, key);
  expect(late.met).toBe(1);
});

test('cutWatches() ends the watches of controllers, which go on all the same', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 1 });
  await plane.clock.advance(1000);
  expect(plane.faults.cutWatches()).toBeGreaterThan(5);
  await plane.client.create(podType, pod({ name: 'p' }));
  await plane.clock.advance(30_000);
  expect((await plane.client.get(podType, { namespace: 'default', name: 'p' })).status?.phase).toBe('Running');
});

test('clear() stops every fault', async () => {
  plane = await startControlPlane();
  plane.faults.lose();
  plane.faults.answer(500);
  plane.faults.clear();
  await plane.clientFor('operator').create(configMapType, configMap({ name: 'm' }));
});

test('over a port what is lost gets 504, as from a proxy', async () => {
  const served = await startControlPlane({ port: 0 });
  plane = served;
  const http = createHttpTransport(loadKubeconfig({ path: served.kubeconfig }));
  const client = createClient({ transport: http.send, userAgent: 'remote' });
  served.faults.loseAnswers({ from: 'remote', times: 1 });
  await expect(client.create(configMapType, configMap({ name: 'm' }))).rejects.toMatchObject({ code: 504 });
  expect((await client.get(configMapType, key)).metadata.name).toBe('m');
  http.close();
});
