/** Bodies that are no object of the kind: each is the client's fault, and said so. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
  await send('POST', '/api/v1/namespaces/default/configmaps', '{"metadata":{"name":"a"}}');
});
afterAll(() => plane?.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';
const BUDGETS = '/apis/policy.kruise.io/v1beta1/namespaces/default/podunavailablebudgets';
const APPLY = 'application/apply-patch+yaml';

async function send(method: string, url: string, body: string | Buffer, type = 'application/json', accept = '*/*') {
  const response = await plane.server.handle({
    method,
    url,
    headers: { 'content-type': type, accept },
    body: Buffer.from(body),
    signal: new AbortController().signal,
    peer: { user: { username: 'admin', groups: ['system:masters'] } },
  });
  return response.status;
}

test.each(['"text"', '5', 'true', '[]', '[{"name":"x"}]'])('17.12: metadata may not be %s', async (metadata) => {
  for (const path of [MAPS, BUDGETS]) {
    expect(await send('POST', path, `{"metadata":${metadata}}`)).toBe(400);
    expect(await send('PUT', `${path}/a`, `{"metadata":${metadata}}`)).toBe(400);
  }
});

test('17.12: 150,000 unknown fields are no error of the server', async () => {
  const fields = Array.from({ length: 150_000 }, (_, at) => `"unknown${at}":1`).join(',');
  expect(await send('POST', MAPS, `{"metadata":{"name":"many"},${fields}}`)).toBeLessThan(500);
  expect(await send('POST', `${MAPS}?fieldValidation=Strict`, `{"metadata":{"name":"more"},${fields}}`)).toBeLessThan(
    500,
  );
});

test('17.12: an apply that is not UTF-8, has control characters or numbers out of range is refused', async () => {
  const config = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  ${data}\n`;
  const apply = (body: string | Buffer, path = `${MAPS}/b`) => send('PATCH', `${path}?fieldManager=me`, body, APPLY);
  const bytes = Buffer.concat([Buffer.from(config('k: v')), Buffer.from([0x23, 0xff, 0x0a])]);
  expect(await apply(bytes)).toBe(400);
  expect(await apply(config('k\u0001: v'))).toBe(400);
  const lease =
    'apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: b}\nspec: {leaseDurationSeconds: 1.5}\n';
  expect(await apply(lease, '/apis/coordination.k8s.io/v1/namespaces/default/leases/b')).toBe(400);
});

test('what cannot be answered in a form that the client takes is refused first', async () => {
  expect(await send('PUT', `${MAPS}/none`, 'nonsense', 'application/json', 'text/html')).toBe(406);
  expect(await send('DELETE', `${MAPS}/a`, '', 'application/json', 'text/html')).toBe(406);
  expect(await send('PUT', `${MAPS}/a`, '{"metadata":{"name":"a"}}')).toBe(200);
});

test('the options of a write are checked before its body', async () => {
  const manager = 'm'.repeat(129);
  expect(await send('PATCH', `${MAPS}/a?fieldManager=${manager}`, '{', APPLY)).toBe(422);
  expect(await send('PATCH', `${MAPS}/a?fieldManager=a%00`, '{', APPLY)).toBe(422);
  expect(await send('POST', `${MAPS}?dryRun=`, '{')).toBe(422);
});

test('a PUT names its object, and a version in a create is refused where it could be one', async () => {
  expect(await send('PUT', `${MAPS}/a`, '{}')).toBe(400);
  expect(await send('POST', MAPS, '{"metadata":{"name":"c","resourceVersion":"0"}}')).toBe(201);
  expect(await send('POST', MAPS, '{"metadata":{"name":"d","resourceVersion":"12"}}')).toBe(500);
});

test('17.12: a delete takes DeleteOptions and nothing else, and deletes nothing otherwise', async () => {
  const bodies = [
    '{"kind":"List","apiVersion":"v1"}',
    '{"kind":["DeleteOptions"]}',
    '{"dryRun":"All"}',
    '{"dryRun":{}}',
  ];
  for (const body of bodies) expect(await send('DELETE', `${MAPS}/a`, body)).toBe(400);
  expect(await send('PUT', `${MAPS}/a`, '{"metadata":{"name":"a"}}')).toBe(200);
});

test('17.12: kind and apiVersion are text, and an apply with a UID makes nothing new', async () => {
  expect(await send('POST', MAPS, '{"kind":["ConfigMap"],"metadata":{"name":"e"}}')).toBe(400);
  const odd = '{"apiVersion":"v1","kind":{"toString":" "},"metadata":{"name":"e"}}';
  expect(await send('PATCH', `${MAPS}/e?fieldManager=me`, odd, APPLY)).toBe(400);
  expect(await send('POST', MAPS, '{"apiVersion":5,"metadata":{"name":"e"}}')).toBe(400);
  const config = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"e","uid":"x"}}';
  expect(await send('PATCH', `${MAPS}/e?fieldManager=me`, config, APPLY)).toBe(409);
});

test('17.12: an applied container without a name has the empty one, which is invalid', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ image: 'i' }] } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'e' }, spec: { template } };
  const path = '/apis/batch/v1/namespaces/default/jobs/e?fieldManager=me';
  expect(await send('PATCH', path, JSON.stringify(job), APPLY)).toBe(422);
});

test('17.12: a patch of a scale that takes its metadata away is no error of the server', async () => {
  const sets = '/apis/apps/v1/namespaces/default/replicasets';
  const labels = { app: 's' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  expect(await send('POST', sets, JSON.stringify({ metadata: { name: 's' }, spec }))).toBe(201);
  const patch = '{"metadata":null,"spec":{"replicas":2}}';
  for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
    expect(await send('PATCH', `${sets}/s/scale`, patch, type)).toBe(200);
  }
  const metadata = '[{"op":"replace","path":"/metadata","value":"text"}]';
  expect(await send('PATCH', `${sets}/s/scale`, metadata, 'application/json-patch+json')).toBeLessThan(500);
});

test.each(['application/merge-patch+json', 'application/strategic-merge-patch+json'])(
  '17.12: a name that is no text is the fault of the client, in a patch of type %s',
  async (type) => {
    expect(await send('PATCH', `${MAPS}/a`, '{"metadata":{"name":{"toString":"1h"}}}', type)).toBe(422);
    expect(await send('PATCH', `${MAPS}/a`, '{"kind":{"toString":"1h"}}', type)).toBe(422);
  },
);

test.each([
  ['application/json-patch+json', '[{"op":"remove","path":"/apiVersion"}]'],
  ['application/json-patch+json', '[{"op":"replace","path":"/apiVersion"}]'],
  ['application/merge-patch+json', '{"apiVersion":null}'],
])('17.12: a patch (%s %s) may not take the version away', async (type, patch) => {
  expect(await send('PATCH', `${MAPS}/a`, patch, type)).toBe(400);
  expect(await send('PATCH', `${MAPS}/a`, '{"kind":null}', 'application/merge-patch+json')).toBe(200);
});

test('17.12: bytes may be a list of numbers, as Go reads them', async () => {
  const map = (bytes: string) => `{"metadata":{"generateName":"bytes-"},"binaryData":{"b":${bytes}}}`;
  for (const bytes of ['[]', '[1,255]', '[null]']) expect(await send('POST', MAPS, map(bytes))).toBe(201);
  for (const bytes of ['[256]', '[-1]', '["a"]', '[1.5]', '{}']) expect(await send('POST', MAPS, map(bytes))).toBe(400);
});

test('17.12: a protobuf envelope whose fields are no bytes is refused', async () => {
  const magic = Buffer.from('k8s\0', 'latin1');
  for (const field of [1, 2, 3]) {
    const body = Buffer.concat([magic, Buffer.from([field << 3, 0])]);
    expect(await send('POST', MAPS, body, 'application/vnd.kubernetes.protobuf')).toBe(400);
  }
});
