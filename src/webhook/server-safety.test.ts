/** What the webhook does with those who are not the API server, and with what it cannot decide. */
import { request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createAuthority, issueClient, issueServer, type KeyPair } from '../machinery/runtime/certificates.ts';
import { ManualClock, settle, silentLogger } from '../machinery/runtime/index.ts';
import { callersByCertificate, callersByToken } from './callers.ts';
import { allow } from './review.ts';
import { startWebhookServer, type WebhookServer, type WebhookServerOptions } from './server.ts';
import { review } from './review.fixture.ts';

const MIB = 1024 * 1024;
const TOKEN = 'a'.repeat(64);
let authority: KeyPair;
let certificate: KeyPair;
const servers: WebhookServer[] = [];
const sockets: TLSSocket[] = [];

beforeAll(async () => {
  const now = Date.now();
  authority = await createAuthority('test', { now, days: 1 });
  certificate = await issueServer(authority, 'webhook', ['127.0.0.1'], { now, days: 1 });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(over: Partial<WebhookServerOptions> = {}): Promise<WebhookServer> {
  const server = await startWebhookServer({
    certificate,
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    callers: callersByToken({ tokens: () => [TOKEN] }),
    checks: [],
    handlers: new Map([
      ['/validate-eviction', () => Promise.resolve(allow)],
      ['/validate-pods', () => Promise.resolve(allow)],
    ]),
    ...over,
  });
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function send(
  { port }: WebhookServer,
  path: string,
  { body = review, client, headers = {}, method = 'POST' }: Partial<Sending> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        ca: authority.certificate,
        agent: false,
        headers: { 'content-length': String(Buffer.byteLength(body)), ...headers },
        ...(client && { cert: client.certificate, key: client.key }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    call.on('error', reject);
    call.end(method === 'GET' ? undefined : body);
  });
}

interface Sending {
  readonly body: string;
  readonly client: KeyPair;
  readonly headers: Record<string, string>;
  readonly method: string;
}

const verdictOf = ({ text }: Answer) =>
  (JSON.parse(text) as { response: { allowed: boolean; status?: { code: number; details?: object } } }).response;

/** Sends a head that promises a body, and none of the body; answers with what comes back, as far as it comes. */
async function promise({ port }: WebhookServer, path: string, length: number): Promise<{ heard: () => string }> {
  let text = '';
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate });
  sockets.push(socket);
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(`POST ${path} HTTP/1.1\r\nhost: w\r\ncontent-length: ${length}\r\n\r\n`);
  return { heard: () => text };
}

test('17.9: WS-11 without the token, or with a wrong one, a review is 404 and its body unread', async () => {
  const rejected: string[] = [];
  const server = await start({ rejected: (reason) => rejected.push(reason) });
  for (const path of ['/validate-eviction', `/${'b'.repeat(64)}/validate-eviction`, `/${TOKEN}`]) {
    const unread = await promise(server, path, 8 * MIB);
    await expect.poll(unread.heard).toMatch(/^HTTP\/1\.1 404 /);
  }
  expect(server.bodyBytes).toBe(0);
  expect(rejected).toEqual(['NotBelieved', 'NotBelieved', 'NotBelieved']);
  expect(verdictOf(await send(server, `/${TOKEN}/validate-eviction`)).allowed).toBe(true);
});

test('17.9: WS-11 a token that another replica has renewed is read once, then believed', async () => {
  let tokens = ['c'.repeat(64)];
  let reads = 0;
  const refresh = (): Promise<void> => {
    reads += 1;
    tokens = [TOKEN];
    return Promise.resolve();
  };
  const server = await start({ callers: callersByToken({ tokens: () => tokens, refresh }) });
  expect((await send(server, `/${TOKEN}/validate-eviction`)).status).toBe(200);
  expect((await send(server, `/${TOKEN}/validate-eviction`)).status).toBe(200);
  expect(reads).toBe(1);
});

test('17.9: WS-12 with a client authority only its certificates, of the given names, are answered', async () => {
  const now = Date.now();
  const other = await createAuthority('other', { now, days: 1 });
  const issue = (from: KeyPair, name: string) => issueClient(from, { commonName: name }, { now, days: 1 });
  const server = await start({ callers: callersByCertificate(authority.certificate, ['kube-apiserver']) });
  const asked = (client?: KeyPair) => send(server, '/validate-eviction', client && { client });
  expect(verdictOf(await asked(await issue(authority, 'kube-apiserver'))).allowed).toBe(true);
  expect((await asked(await issue(authority, 'somebody'))).status).toBe(404);
  await expect(asked(await issue(other, 'kube-apiserver'))).rejects.toThrow();
  expect((await asked()).status).toBe(404);
  expect((await send(server, '/readyz', { method: 'GET' })).status).toBe(200);
});

test('17.9: WS-14 unfinished bodies take no more than 64 MiB in sum, and evictions are still answered', async () => {
  const rejected: string[] = [];
  const server = await start({ rejected: (reason) => rejected.push(reason) });
  await Promise.all(Array.from({ length: 150 }, () => promise(server, `/${TOKEN}/validate-pods`, 8 * MIB)));
  await expect.poll(() => rejected.length).toBe(144);
  expect(new Set(rejected)).toEqual(new Set(['Overloaded']));
  expect(server.bodyBytes).toBe(48 * MIB);
  expect((await send(server, `/${TOKEN}/validate-pods`)).status).toBe(503);
  expect(verdictOf(await send(server, `/${TOKEN}/validate-eviction`)).allowed).toBe(true);
});

test('17.9: a body must say its length, and that must be a fair one', async () => {
  const server = await start();
  const post = (path: string, length: number) => promise(server, `/${TOKEN}${path}`, length);
  await expect.poll((await post('/validate-eviction', 3 * MIB + 1)).heard).toMatch(/^HTTP\/1\.1 413 /);
  await expect.poll((await post('/validate-pods', 8 * MIB + 1)).heard).toMatch(/^HTTP\/1\.1 413 /);
  const headers = { 'transfer-encoding': 'chunked' };
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.certificate });
  sockets.push(socket);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
  socket.write(
    `POST /${TOKEN}/validate-pods HTTP/1.1\r\nhost: w\r\ntransfer-encoding: ${headers['transfer-encoding']}\r\n\r\n`,
  );
  await expect.poll(() => heard).toMatch(/^HTTP\/1\.1 411 /);
});

test('17.9: a review of nobody is no review', async () => {
  const server = await start();
  const body = review.replace('alice', '');
  expect(await send(server, `/${TOKEN}/validate-pods`, { body })).toEqual({
    status: 400,
    text: 'the AdmissionReview does not say who makes the request\n',
  });
});

test('17.9: WS-17 whatever a handler throws, evictions are told to come again, others get 500, the process lives', async () => {
  const thrown = [new Error('no ledger'), 'a string', undefined, Object.create(null) as object];
  for (const what of thrown) {
    const broken = (): never => {
      throw what;
    };
    const server = await start({
      handlers: new Map([
        ['/validate-eviction', broken],
        ['/validate-pods', () => Promise.reject(what)],
        ['/pick-downscale', broken],
      ]),
    });
    const eviction = verdictOf(await send(server, `/${TOKEN}/validate-eviction`));
    expect(eviction).toMatchObject({ allowed: false, status: { code: 429, details: { retryAfterSeconds: 1 } } });
    expect(verdictOf(await send(server, `/${TOKEN}/validate-pods`))).toMatchObject({ status: { code: 500 } });
    expect(verdictOf(await send(server, `/${TOKEN}/pick-downscale`)).allowed).toBe(true);
  }
});

test('18.6: a review is answered before the API server stops waiting, an eviction with 429', async () => {
  const clock = new ManualClock();
  let begun = 0;
  const aborted: string[] = [];
  const stuck = (_request: object, signal: AbortSignal): Promise<never> => {
    begun += 1;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(String(signal.reason));
        reject(signal.reason as Error);
      });
    });
  };
  const handlers = new Map([['/validate-eviction', stuck]]);
  const server = await start({ clock, handlers });
  for (const [timeout, seconds] of [
    ['10s', 8],
    ['3s', 2],
    ['1m0s', 8],
  ] as const) {
    const before = begun;
    let answered = false;
    const asked = send(server, `/${TOKEN}/validate-eviction?timeout=${timeout}`).then((answer) => {
      answered = true;
      return answer;
    });
    await expect.poll(() => begun).toBe(before + 1);
    await clock.advance(seconds * 1000 - 1);
    await settle();
    expect(answered).toBe(false);
    await clock.advance(1);
    expect(verdictOf(await asked)).toMatchObject({ allowed: false, status: { code: 429 } });
    expect(aborted.at(-1)).toContain(`no decision within ${seconds} s`);
  }
});

test('18.6: while it cannot decide, evictions are told to come again and others 503; probes name each check', async () => {
  let wrong: string | undefined = 'pods not heard of for 80 s';
  const checks = [
    { name: 'caches', needed: true, problem: () => wrong },
    { name: 'certificate', problem: () => undefined },
  ];
  const server = await start({ checks });
  const probe = (path: string) => send(server, path, { method: 'GET' });
  const eviction = verdictOf(await send(server, `/${TOKEN}/validate-eviction`));
  expect(eviction).toMatchObject({ allowed: false, status: { code: 429, details: { retryAfterSeconds: 1 } } });
  expect((await send(server, `/${TOKEN}/validate-pods`)).status).toBe(503);
  expect(await probe('/readyz')).toEqual({ status: 503, text: '[-]caches: pods not heard of for 80 s\n' });
  expect(await probe('/readyz?verbose')).toEqual({
    status: 503,
    text: '[-]caches: pods not heard of for 80 s\n[+]certificate ok\n',
  });
  expect((await probe('/livez')).status).toBe(200);
  wrong = undefined;
  expect(await probe('/readyz')).toEqual({ status: 200, text: 'ok\n' });
  expect((await send(server, `/${TOKEN}/validate-pods`)).status).toBe(200);
});

test('18.6: HL-02 a thread that stood still for six seconds fails /livez, an API server that is away does not', async () => {
  const clock = new ManualClock();
  const server = await start({ clock, checks: [{ name: 'api-server', problem: () => 'no answer for 16 s' }] });
  const livez = () => send(server, '/livez', { method: 'GET' });
  expect((await livez()).status).toBe(200);
  expect((await send(server, '/readyz', { method: 'GET' })).status).toBe(503);
  await clock.advance(3000);
  expect((await livez()).status).toBe(200);
  // Time passes and no timer is served.
  clock.pass(6000);
  expect(await livez()).toEqual({ status: 503, text: '[-]event-loop: it stood still for 6 s\n' });
  await clock.advance(11_000);
  expect((await livez()).status).toBe(200);
});

test('18.1: a connection that was opened ahead is answered on however late; a request that never ends is ended', async () => {
  const server = await start({ requestLimitMs: 200 });
  const heard: string[] = [];
  const open = async (): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.certificate });
    sockets.push(socket);
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    return socket;
  };
  const ahead = await open();
  const endless = await open();
  endless.on('data', (chunk: Buffer) => heard.push(chunk.toString('latin1')));
  endless.write('POST /validate-eviction HTTP/1.1\r\nhost: w\r\n');
  await new Promise((resolve) => endless.once('close', resolve));
  expect(heard.join('')).toContain('408 Request Timeout');
  const answer = new Promise<string>((resolve) =>
    ahead.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1'))),
  );
  const head = `POST /${TOKEN}/validate-eviction HTTP/1.1\r\nhost: w\r\ncontent-length: ${Buffer.byteLength(review)}\r\n\r\n`;
  ahead.write(`${head}${review}`);
  expect(await answer).toContain('HTTP/1.1 200 OK');
});
