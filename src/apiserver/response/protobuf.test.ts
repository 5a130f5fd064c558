import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSchema } from '../../api/schema/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';
import { decodeProtobuf } from '../codec/index.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MAPS = '/api/v1/namespaces/default/configmaps';

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
});

afterAll(() => plane?.stop());

async function send(method: string, url: string, accept: string, body?: object) {
  const response = await plane.server.handle({
    method,
    url,
    headers: { accept, 'content-type': 'application/json' },
    body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
    peer: { user: { username: 'admin', groups: ['system:masters'] } },
  });
  if (typeof response.body === 'function') throw new Error('a stream was not asked for');
  const bytes = response.body instanceof Uint8Array ? response.body : Buffer.concat(response.body);
  return { status: response.status, type: response.headers['content-type'], bytes };
}

const decoded = (bytes: Uint8Array): unknown => decodeProtobuf(bytes, loadSchema(), { apiVersion: '', kind: '' });
const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));

test('a client that accepts only protobuf gets the same object, list and write answer in it', async () => {
  const created = await send('POST', MAPS, PROTOBUF, { metadata: { name: 'm' }, data: { a: 'ä' } });
  expect([created.status, created.type]).toEqual([201, PROTOBUF]);
  const json = await send('GET', `${MAPS}/m`, 'application/json');
  expect(decoded(created.bytes)).toEqual(parsed(json.bytes));
  expect(decoded((await send('GET', `${MAPS}/m`, PROTOBUF)).bytes)).toEqual(parsed(json.bytes));
  const list = decoded((await send('GET', MAPS, PROTOBUF)).bytes) as { kind: string; items: { data: object }[] };
  expect(list.kind).toBe('ConfigMapList');
  expect(list.items.map(({ data }) => data)).toContainEqual({ a: 'ä' });
});

test('a client that accepts JSON as well gets JSON, which costs nothing', async () => {
  const answer = await send('GET', MAPS, `${PROTOBUF},application/json`);
  expect([answer.status, answer.type]).toEqual([200, 'application/json']);
});

test('custom resources have no protobuf form', async () => {
  const path = '/apis/policy.kruise.io/v1beta1/namespaces/default/podunavailablebudgets';
  expect((await send('GET', path, 'application/json')).status).toBe(200);
  expect((await send('GET', path, PROTOBUF)).status).toBe(406);
});
