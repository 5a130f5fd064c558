import { connect as connectHttp2 } from 'node:http2';
import { get, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../machinery/runtime/index.ts';
import { openPki, type Pki } from '../auth/index.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { asksForGzip } from './compress.ts';
import { type Listening, listen } from './listen.ts';

const KIB = 1024;
const pieces = (bytes: number): Uint8Array[] =>
  Array.from({ length: bytes / KIB }, (_, at) => Buffer.alloc(KIB, 97 + (at % 26)));
const json = { 'content-type': 'application/json' };
const ANSWERS: Readonly<Record<string, ApiResponse>> = {
  '/list': { status: 200, headers: { ...json, vary: 'Accept' }, body: pieces(1024 * KIB) },
  '/one': { status: 200, headers: json, body: Buffer.concat(pieces(129 * KIB)) },
  '/limit': { status: 200, headers: json, body: pieces(128 * KIB) },
  '/packed': { status: 200, headers: { ...json, 'content-encoding': 'br' }, body: pieces(200 * KIB) },
  '/watch': {
    status: 200,
    headers: json,
    body(sink) {
      for (const piece of pieces(256 * KIB)) sink.write(piece);
      sink.end();
      return () => {};
    },
  },
};

let pki: Pki;
let plain: Listening;
let secure: Listening;

beforeAll(async () => {
  pki = await openPki({ clock: systemClock });
  const handle = ({ url }: { url: string }) => Promise.resolve(ANSWERS[url] as ApiResponse);
  const tls = { certificate: pki.server.certificate, key: pki.server.key, authority: pki.authority.certificate };
  plain = await listen({ handle, port: 0, address: '127.0.0.1' });
  secure = await listen({ handle, port: 0, address: '127.0.0.1', tls });
});
afterAll(async () => {
  await plain.close();
  await secure.close();
});

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function http1(path: string, headers: Record<string, string> = { 'accept-encoding': 'gzip' }): Promise<Got> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: plain.port, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ headers: incoming.headers, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

function http2(path: string): Promise<Got> {
  const session = connectHttp2(`https://127.0.0.1:${secure.port}`, { ca: pki.authority.certificate });
  return new Promise((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({ ':path': path, 'accept-encoding': 'gzip' });
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on('response', (given) => (headers = given));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      session.close();
      resolve({ headers, body: Buffer.concat(chunks) });
    });
  });
}

for (const [name, fetchOne] of Object.entries({ 'HTTP/1.1': http1, 'HTTP/2': http2 })) {
  test(`1.4: over ${name}, what is larger than 128 KiB is compressed for who asks, and says what it varies by`, async () => {
    const list = await fetchOne('/list');
    expect(list.headers['content-encoding']).toBe('gzip');
    expect(list.headers['content-length']).toBeUndefined();
    expect(list.headers.vary).toBe('Accept, Accept-Encoding');
    expect(list.body.length).toBeLessThan(100 * KIB);
    expect(gunzipSync(list.body).equals(Buffer.concat(pieces(1024 * KIB)))).toBe(true);
    const one = await fetchOne('/one');
    expect(one.headers.vary).toBe('Accept-Encoding');
    expect(gunzipSync(one.body).length).toBe(129 * KIB);
  });

  test(`1.4: over ${name}, what is no larger, a watch and what is packed already go out as they are`, async () => {
    expect((await fetchOne('/limit')).headers).toMatchObject({ 'content-length': String(128 * KIB) });
    expect((await fetchOne('/limit')).headers.vary).toBeUndefined();
    const watch = await fetchOne('/watch');
    expect(watch.headers['content-encoding']).toBeUndefined();
    expect(watch.body.length).toBe(256 * KIB);
    expect((await fetchOne('/packed')).headers['content-encoding']).toBe('br');
  });
}

test('1.4: who does not ask gets it as it is', async () => {
  const list = await http1('/list', {});
  expect(list.headers).toMatchObject({ 'content-length': String(1024 * KIB), vary: 'Accept' });
});

test.each([
  ['gzip', true],
  ['deflate, gzip , br', true],
  ['gzip;q=0', false],
  ['gzip;q=1.0', false],
  ['*', false],
  ['identity', false],
])('1.4: Accept-Encoding %j asks for gzip: %s, as Kubernetes reads it', (given, asks) => {
  expect(asksForGzip(given)).toBe(asks);
});

test('1.4: a client that goes away in the middle of a compressed answer costs nothing more', async () => {
  await new Promise<void>((resolve) => {
    const request = get(
      { host: '127.0.0.1', port: plain.port, path: '/list', headers: { 'accept-encoding': 'gzip' }, agent: false },
      (incoming) => {
        incoming.once('data', () => {
          request.destroy();
          resolve();
        });
      },
    );
    request.on('error', () => {});
  });
  expect((await http1('/one')).headers['content-encoding']).toBe('gzip');
});
