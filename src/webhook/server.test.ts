import { Agent, request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority, issueServer, type KeyPair } from '../machinery/runtime/certificates.ts';
import { type Clock, deferred, ManualClock, silentLogger, systemClock } from '../machinery/runtime/index.ts';
import { allow, refuse } from './review.ts';
import { callersByToken } from './callers.ts';
import { startWebhookServer, type WebhookServer } from './server.ts';
import { review } from './review.fixture.ts';

const TOKEN = 'a'.repeat(64);
const callers = callersByToken({ tokens: () => [TOKEN] });

let authority: KeyPair;
let server: WebhookServer;
let ready = true;
let begun = (): void => {};
let finish = (): void => {};

beforeAll(async () => {
  const now = Date.now();
  authority = await createAuthority('test', { now, days: 1 });
  server = await startWebhookServer({
    certificate: await issueServer(authority, 'webhook', ['127.0.0.1'], { now, days: 1 }),
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    callers,
    checks: [{ name: 'caches', needed: true, problem: () => (ready ? undefined : 'not filled yet') }],
    handlers: new Map([
      ['/allow', () => Promise.resolve(allow)],
      [
        '/refuse',
        () =>
          Promise.resolve(
            refuse({ code: 429, reason: 'TooManyRequests', message: 'later', details: { retryAfterSeconds: 10 } }),
          ),
      ],
      [
        '/slow',
        () =>
          new Promise((resolve) => {
            begun();
            finish = () => resolve(allow);
          }),
      ],
      ['/broken', () => Promise.reject(new Error('no ledger'))],
    ]),
  });
});
afterAll(() => server.close());

function send(
  path: string,
  { body = review, method = 'POST', port = server.port } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path: method === 'GET' ? path : `/${TOKEN}${path}`,
        method,
        headers: method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) },
        ca: authority.certificate,
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    call.on('error', reject);
    call.end(method === 'GET' ? undefined : body);
  });
}

test('the webhook server answers a review with its uid', async () => {
  const { status, text } = await send('/allow?timeout=10s');
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'u1', allowed: true },
  });
});

test('a connection outlives the 90 s after which API servers give it up: kubectl drain asks every 5 s, and ends on a 500', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  const headers = { 'content-length': Buffer.byteLength(review) };
  const announced = await new Promise<string>((resolve, reject) => {
    const options = { headers, host: '127.0.0.1', port: server.port, path: `/${TOKEN}/allow`, method: 'POST', agent };
    const call = request(options, (response) => {
      response.resume().on('end', () => resolve(String(response.headers['keep-alive'])));
    });
    call.on('error', reject);
    call.end(review);
  });
  agent.destroy();
  const [, seconds = '0'] = /^timeout=(\d+)$/.exec(announced) ?? [];
  expect(Number(seconds)).toBeGreaterThan(90);
});

test('the webhook server hands a refusal with code and retry on', async () => {
  const { response } = JSON.parse((await send('/refuse')).text) as {
    response: { allowed: boolean; status: { code: number; details: object } };
  };
  expect(response).toMatchObject({ allowed: false, status: { code: 429, details: { retryAfterSeconds: 10 } } });
});

test('the webhook server refuses what its handler could not decide', async () => {
  const { response } = JSON.parse((await send('/broken')).text) as {
    response: { allowed: boolean; status: { message: string } };
  };
  expect(response.allowed).toBe(false);
  expect(response.status.message).toBe('Quorate could not decide: no ledger');
});

test('the webhook server answers bad input with a clear text', async () => {
  expect(await send('/allow', { body: '{' })).toEqual({ status: 400, text: 'the body is not JSON\n' });
  expect((await send('/allow', { body: '{"kind":"Pod"}' })).status).toBe(400);
  expect((await send('/none')).status).toBe(404);
  expect((await send('/allow', { method: 'PUT' })).status).toBe(405);
  expect((await send('/allow', { body: 'x'.repeat(9 * 1024 * 1024) })).status).toBe(413);
});

test('the webhook server is not ready, and grants nothing, before its caches are filled', async () => {
  ready = false;
  expect((await send('/readyz', { method: 'GET' })).status).toBe(503);
  expect((await send('/allow')).status).toBe(503);
  expect((await send('/healthz', { method: 'GET' })).status).toBe(200);
  ready = true;
});

test('18.6: GR-12 a server that decides no more answers what is under way at once, and what still comes, without a grant', async () => {
  const isAsked = deferred();
  const ending = await startWebhookServer({
    certificate: await issueServer(authority, 'webhook', ['127.0.0.1'], { now: Date.now(), days: 1 }),
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    callers,
    checks: [],
    clock: new ManualClock(0),
    handlers: new Map([
      [
        '/never',
        () => {
          isAsked.resolve();
          return new Promise(() => {});
        },
      ],
      ['/allow', () => Promise.resolve(allow)],
    ]),
  });
  const { port } = ending;
  const waiting = send('/never', { port });
  await isAsked.promise;
  await ending.decideNoMore('it ends');
  for (const answer of [await waiting, await send('/allow', { port })]) {
    expect(answer.status).toBe(200);
    const { response } = JSON.parse(answer.text) as { response: object };
    expect(response).toMatchObject({ allowed: false, status: { message: 'Quorate could not decide: it ends' } });
  }
  await ending.close();
});

test('the webhook server answers what is under way before it closes, and gives up the connection of what still comes', async () => {
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const slow = send('/slow');
  await isBegun;
  let closed = false;
  const closing = server.close().then(() => {
    closed = true;
  });
  expect(closed).toBe(false);
  finish();
  expect((await slow).status).toBe(200);
  await closing;
  await expect(send('/allow')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
});

test('the webhook server closes although a client goes on asking on a connection it keeps', async () => {
  const now = Date.now();
  const busy = await startWebhookServer({
    certificate: await issueServer(authority, 'webhook', ['127.0.0.1'], { now, days: 1 }),
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    callers,
    checks: [],
    handlers: new Map([['/allow', () => Promise.resolve(allow)]]),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  let answered = 0;
  const ask = (): void => {
    const headers = { 'content-length': Buffer.byteLength(review) };
    const call = request(
      { headers, host: '127.0.0.1', port: busy.port, path: `/${TOKEN}/allow`, method: 'POST', agent },
      (response) => {
        response.resume().on('end', () => {
          answered += 1;
          ask();
        });
      },
    );
    call.on('error', () => {});
    call.end(review);
  };
  ask();
  await expect.poll(() => answered, { timeout: 60_000 }).toBeGreaterThan(3);
  await busy.close();
  agent.destroy();
});

/** A server, and a client that keeps one connection to it. */
async function startLeaving(clock: Clock) {
  const leaving = await startWebhookServer({
    certificate: await issueServer(authority, 'webhook', ['127.0.0.1'], { now: Date.now(), days: 1 }),
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    callers,
    checks: [],
    clock,
    handlers: new Map([['/allow', () => Promise.resolve(allow)]]),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  const ask = (): Promise<{ status: number | undefined; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-length': Buffer.byteLength(review) };
      const call = request(
        { headers, host: '127.0.0.1', port: leaving.port, path: `/${TOKEN}/allow`, method: 'POST', agent },
        (response) => {
          const { connection } = response.headers;
          response.resume().on('end', () => resolve({ status: response.statusCode, connection }));
        },
      );
      call.on('error', reject);
      call.end(review);
    });
  return { agent, ask, leaving };
}

test('18.1: a server that closes answers reviews on their way, and gives up each connection with its answer', async () => {
  const { agent, ask, leaving } = await startLeaving(new ManualClock(0));
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive' });
  const closing = leaving.close();
  expect(await ask()).toEqual({ status: 200, connection: 'close' });
  await closing;
  await expect(ask()).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  agent.destroy();
});

test('18.1: a server that closes answers what came while its process stood still, however late it looks', async () => {
  const { agent, ask, leaving } = await startLeaving(systemClock);
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive' });
  const closing = leaving.close();
  const sent = ask();
  // The client writes in its next ticks; by the turn in which the server could read, its time is over already.
  await new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
  expect(await sent).toEqual({ status: 200, connection: 'close' });
  await closing;
  agent.destroy();
});
