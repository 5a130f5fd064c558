/** Clients that keep connections busy or idle without asking for anything. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Edge, type EdgeOptions, sendHttp2, startEdge } from './edge.fixture.ts';
import { closed, flood, floods } from './floods.fixture.ts';

/** Machines may be busy. */
const PATIENCE = { timeout: 60_000 };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

const more: Edge[] = [];
afterEach(async () => {
  for (const one of more.splice(0)) await one.stop();
});
const impatient = async (limits: EdgeOptions['limits']): Promise<Edge> => {
  const one = await startEdge({ limits: { checkMs: 20, ...limits } });
  more.push(one);
  return one;
};

for (const [name, bytes] of Object.entries(floods)) {
  it(`a flood of ${name} over HTTP/2 leaves the server standing`, async () => {
    const sockets = await Promise.all([1, 2].map(() => edge.socket('h2')));
    await Promise.all(sockets.map((socket) => flood(socket, bytes)));
    expect((await edge.http2({ method: 'GET', path: '/livez' })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
}

it('17.10: an idle HTTP/2 session ends, one with a watch does not', async () => {
  const quick = await impatient({ idleMs: 100 });
  const watching = quick.session();
  const stream = watching.request({
    ':path': '/api/v1/namespaces/default/configmaps?watch=1',
    ...quick.admin,
  });
  await new Promise((resolve) => stream.once('response', resolve));
  const idle = quick.session();
  await closed(idle);
  // Both began at about the same time; a second idle one begins and ends while the watch lasts.
  await closed(quick.session());
  expect(watching.closed).toBe(false);
  watching.destroy();
});

it('17.10: an idle HTTP/1.1 connection ends, before its first request and after it', async () => {
  const quick = await impatient({ idleMs: 100, headMs: 200 });
  const silent = await quick.socket('http/1.1');
  silent.resume();
  const once = await quick.socket('http/1.1');
  once.resume();
  once.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
  await Promise.all([closed(silent), closed(once)]);
});

it('a connection that never begins its handshake ends', async () => {
  const quick = await impatient({ headMs: 100 });
  const socket = connect(quick.port, '127.0.0.1');
  socket.on('error', () => {});
  await closed(socket.resume());
});

it('a head that comes byte by byte is given up on', async () => {
  const quick = await impatient({ headMs: 100 });
  const socket = await quick.socket('http/1.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.write('GET /livez HTTP/1.1\r\nhost: ');
  await closed(socket);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
});

it('more headers than the limit are refused and none is passed over', async () => {
  const headers = Object.fromEntries(Array.from({ length: 2500 }, (_, at) => [`x-${at}`, '1']));
  const { body, status } = await edge.http1({ method: 'GET', path: '/livez', headers });
  expect(status).toBe(431);
  expect(JSON.parse(body)).toMatchObject({ kind: 'Status', code: 431 });
  expect((await edge.http2({ method: 'GET', path: '/livez', headers })).status).not.toBe(200);
});

it('a head over the limit is refused', async () => {
  const { status } = await edge.http1({ method: 'GET', path: `/${'a'.repeat(300_000)}` });
  expect(status).toBe(431);
});

it('a client may have so many streams at once and no more', async () => {
  const session = edge.session();
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  expect(session.remoteSettings.maxConcurrentStreams).toBe(250);
  session.destroy();
});

it('17.10: connections over the limit are refused, and those that go make room', async () => {
  const small = await impatient({ connections: 2 });
  const [first] = await Promise.all([small.socket('http/1.1'), small.socket('http/1.1')]);
  await expect(small.socket('http/1.1')).rejects.toThrow();
  first?.destroy();
  await expect
    .poll(
      () =>
        small.http1({ method: 'GET', path: '/livez' }).then(
          (got) => got.status,
          () => 0,
        ),
      PATIENCE,
    )
    .toBe(200);
});

it('17.10: requests whose bodies never begin are bounded too', async () => {
  const small = await impatient({ bytesPerBody: 1000, bodyBytesInFlightPerUser: 3000 });
  const session = small.session();
  const request = { method: 'POST', path: '/api/v1/namespaces', headers: small.admin, unfinished: true };
  const waiting = [1, 2, 3].map(() => sendHttp2(session, request, false));
  await expect.poll(() => small.bodyBytesInFlight(), PATIENCE).toBe(3000);
  expect((await sendHttp2(session, { ...request, unfinished: false }, false)).status).toBe(429);
  session.destroy();
  await Promise.all(waiting);
});
