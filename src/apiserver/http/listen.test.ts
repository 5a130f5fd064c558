import { connect as connectHttp2 } from 'node:http2';
import { request as httpRequest } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../machinery/runtime/index.ts';
import { type ControlPlane, configMap, startControlPlane } from '../../testkit/index.ts';
import { configMapType } from '../../testkit/types.ts';
import { openPki, type Pki } from '../auth/index.ts';
import { IncomingRequest, type Peer } from '../exchange/exchange.ts';
import { systemAdmin } from '../server/in-process.ts';
import { type Listening, listen } from './listen.ts';
import { DEFAULT_LIMITS } from './limits.ts';

let plane: ControlPlane;
let plain: Listening;
let secure: Listening;
let pki: Pki;
let lastPeer: Peer | undefined;
const COLLECTION = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  plane = await startControlPlane();
  pki = await openPki({ clock: systemClock });
  const handle: typeof plane.server.handle = (request) => {
    lastPeer = request.peer;
    const { method, url, headers, peer } = request;
    const trusted = { method, url, headers, body: undefined, peer: { ...peer, user: systemAdmin } };
    const receive = async (user: string) => {
      await request.receive?.(user);
      return request.body;
    };
    return plane.server.handle(new IncomingRequest(trusted, () => request.signal, receive));
  };
  plain = await listen({ handle, port: 0, address: '127.0.0.1' });
  secure = await listen({
    handle,
    port: 0,
    address: '127.0.0.1',
    tls: { certificate: pki.server.certificate, key: pki.server.key, authority: pki.authority.certificate },
  });
});

afterAll(async () => {
  await plain.close();
  await secure.close();
  await plane.stop();
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function http1(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ port: plain.port, host: '127.0.0.1', method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

function http2(
  method: string,
  path: string,
  body?: string,
  pair?: { certificate: string; key: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${secure.port}`, {
      ca: pki.authority.certificate,
      ...(pair && { cert: pair.certificate, key: pair.key }),
    });
    session.on('error', reject);
    const stream = session.request({ ':method': method, ':path': path });
    let text = '';
    let headers: Record<string, unknown> = {};
    stream.on('response', (answered) => (headers = answered));
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    stream.on('end', () => {
      session.close();
      resolve({ status: Number(headers[':status']), body: text, headers });
    });
    stream.end(body);
  });
}

test('HTTP/1.1 and HTTP/2 give the same answer', async () => {
  await plane.client.create(configMapType, configMap({ name: 'both', data: { a: 'ü' } }));
  const [one, two] = await Promise.all([http1('GET', `${COLLECTION}/both`), http2('GET', `${COLLECTION}/both`)]);
  expect(one.status).toBe(200);
  expect(two.body).toBe(one.body);
  for (const { headers } of [one, two]) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('a body over the limit is 413, declared or not', async () => {
  const declared = await http1('POST', COLLECTION, Buffer.alloc(DEFAULT_LIMITS.bodyBytes + 1, 32));
  expect(declared.status).toBe(413);
  expect(JSON.parse(declared.body)).toMatchObject({ kind: 'Status', reason: 'RequestEntityTooLarge', code: 413 });
  const chunked = await http1('POST', COLLECTION, Buffer.alloc(DEFAULT_LIMITS.bodyBytes + 1, 32), {
    'transfer-encoding': 'chunked',
  });
  expect(chunked.status).toBe(413);
});

const bad = [
  { name: 'malformed JSON', type: 'application/json', body: '{"kind":', code: 400 },
  { name: 'malformed YAML', type: 'application/yaml', body: 'a: [', code: 400 },
  { name: 'malformed protobuf', type: 'application/vnd.kubernetes.protobuf', body: 'k8s\0\xff\xff', code: 400 },
  { name: 'an unknown content type', type: 'text/plain', body: 'x', code: 415 },
  { name: 'CBOR', type: 'application/cbor', body: 'x', code: 415 },
  { name: 'another kind', type: 'application/json', body: '{"kind":"Secret","apiVersion":"v1"}', code: 400 },
  { name: 'deep nesting', type: 'application/json', body: '{"a":'.repeat(50_000), code: 400 },
  { name: '17.11: deep nesting of many values', type: 'application/json', body: '[0,'.repeat(200_000), code: 400 },
];
for (const { name, type, body, code } of bad) {
  test(`${name} is a Status with code ${code}`, async () => {
    const answer = await http1('POST', COLLECTION, Buffer.from(body, 'latin1'), { 'content-type': type });
    expect(answer.status).toBe(code);
    expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });
}

test('unknown paths, resources and methods are told apart', async () => {
  expect(await http1('GET', '/nowhere')).toMatchObject({ status: 404, body: '404 page not found\n' });
  const resource = await http1('GET', '/api/v1/nothings');
  expect(JSON.parse(resource.body)).toMatchObject({
    code: 404,
    message: 'the server could not find the requested resource',
  });
  expect((await http1('PUT', COLLECTION, '{}')).status).toBe(405);
});

test('long selectors are read, over HTTP/1.1 and, up to the 64 KiB that one of its headers may have, HTTP/2', async () => {
  const path = (values: number): string => {
    const list = Array.from({ length: values }, (_, at) => `value-${at}`).join(',');
    return `${COLLECTION}?labelSelector=${encodeURIComponent(`app in (${list})`)}`;
  };
  expect((await http1('GET', path(10_000))).status).toBe(200);
  expect((await http2('GET', path(4000))).status).toBe(200);
  const refused = await http1('GET', `${COLLECTION}?labelSelector=${'('.repeat(100_000)}`);
  expect(JSON.parse(refused.body)).toMatchObject({ kind: 'Status', code: 400 });
});

test('clients that never finish their request keep nobody else waiting', async () => {
  const beginnings = ['GET /api', `POST ${COLLECTION} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{`];
  const slow = Array.from({ length: 100 }, (_, at) => {
    const socket = connectSocket(plain.port, '127.0.0.1', () => socket.write(beginnings[at % 2] as string));
    socket.on('error', () => {});
    return socket;
  });
  expect((await http1('GET', '/version')).status).toBe(200);
  for (const socket of slow) socket.destroy();
});

test('a time limit that is no duration is a Status with code 400', async () => {
  const { body } = await http1('GET', `${COLLECTION}?timeout=soon`);
  expect(JSON.parse(body)).toMatchObject({ kind: 'Status', code: 400 });
});

test('a watch sends its headers before the first event and ends with the client', async () => {
  const open = plane.server.context.streams.size;
  const { socket, first } = await new Promise<{ socket: import('node:net').Socket; first: string }>((resolve) => {
    const connection = connectSocket(plain.port, '127.0.0.1', () =>
      connection.write(`GET ${COLLECTION}?watch=1&resourceVersion=${plane.store.revision} HTTP/1.1\r\nhost: x\r\n\r\n`),
    );
    connection.once('data', (chunk) => resolve({ socket: connection, first: chunk.toString('utf8') }));
  });
  expect(first).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(plane.server.context.streams.size).toBe(open + 1);
  socket.destroy();
  await expect.poll(() => plane.server.context.streams.size, { timeout: 60_000 }).toBe(open);
});

test('a broken handshake and garbage on the line leave the server standing', async () => {
  for (const text of ['\x16\x03\x01', 'GET / HTTP/1.1\r\n\r\n', '\0\0\0\0']) {
    await new Promise<void>((resolve) => {
      const socket = connectSocket(secure.port, '127.0.0.1', () => socket.end(Buffer.from(text, 'latin1')));
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
  expect((await http2('GET', '/version')).status).toBe(200);
});

test('a client certificate names its owner, and one of another authority nobody', async () => {
  const stranger = await openPki({ clock: systemClock });
  await http2('GET', '/version', undefined, pki.admin);
  expect(lastPeer?.certificate).toEqual({ commonName: 'kubernetes-admin', organizations: ['system:masters'] });
  await http2('GET', '/version', undefined, stranger.admin);
  expect(lastPeer?.certificate).toBeUndefined();
});
