/** Clients that keep connections busy or idle without asking for anything. */
import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Edge, type EdgeOptions, sendHttp2, startEdge } from './edge.fixture.ts';

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

const closed = (socket: { once(event: 'close', done: () => void): unknown; destroyed: boolean }): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', resolve);
  });

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTINGS = 4;
const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
/** GET / over https at host x: indexed fields of the static table and one literal. */
const GET_HEAD = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x78]);
const POST_HEAD = Buffer.from([0x83, 0x87, 0x84, 0x41, 0x01, 0x78]);
const streamOf = (at: number): number => at * 2 + 1;
const times = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

const floods: Readonly<Record<string, Buffer>> = {
  'streams that are reset at once': times(3000, (at) =>
    Buffer.concat([frame(1, 5, streamOf(at), GET_HEAD), frame(3, 0, streamOf(at), Buffer.alloc(4))]),
  ),
  pings: times(20_000, () => frame(6, 0, 0, Buffer.alloc(8))),
  settings: times(20_000, () => frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0xff, 0xff]))),
  'empty data frames': Buffer.concat([frame(1, 4, 1, POST_HEAD), times(100_000, () => frame(0, 0, 1))]),
  'a head that never ends': Buffer.concat([
    frame(1, 0, 1, GET_HEAD),
    times(20_000, () => frame(9, 0, 1, Buffer.alloc(0))),
  ]),
  'a head of many megabytes': Buffer.concat([
    frame(1, 0, 1, GET_HEAD),
    times(600, () =>
      frame(9, 0, 1, Buffer.concat([Buffer.from([0x00, 0x01, 0x61, 0x7f, 0x81, 0x7e]), Buffer.alloc(16_256, 0x61)])),
    ),
  ]),
  priorities: times(20_000, () => frame(2, 0, 1, Buffer.alloc(5))),
  'window updates': times(20_000, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))),
  'frames of no known type': times(20_000, () => frame(99, 0, 0, Buffer.alloc(4))),
  garbage: Buffer.alloc(100_000, 0xa5),
};

async function flood(socket: TLSSocket, bytes: Buffer): Promise<void> {
  socket.resume();
  const written = new Promise<void>((resolve) =>
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), bytes]), () => resolve()),
  );
  await Promise.race([written, closed(socket)]);
}

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
