/** What was sent to the sockets themselves: requests that no library would make, and many that never end. */
import { connect as connectHttp2, type ClientHttp2Session, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Access, Attack, AttackedServer } from '../harness/index.ts';
import { flood, floods } from '../../../src/apiserver/http/floods.fixture.ts';
import { send } from '../harness/index.ts';

const UNFINISHED = 600;
const BODY_BYTES = 2 * 1024 * 1024;
const HEADS = 1000;
const RESETS = 20_000;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

function openSession({ ca, host, port }: Access, more: object = {}): ClientHttp2Session {
  const session = connectHttp2(`https://${host}:${port}`, { ca, maxSessionMemory: 2000, ...more });
  session.on('error', () => {});
  return session;
}

function openSocket(
  { ca, host, port }: Access,
  protocol: 'h2' | 'http/1.1' = 'http/1.1',
): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = connectTls({ ca, host, port, ALPNProtocols: [protocol] }, () => resolve(socket));
    socket.once('error', () => resolve(undefined));
    socket.on('error', () => {});
  });
}

/** How often each status was answered, as `403: 600`. */
function countOf(statuses: readonly (number | string)[]): string {
  const counts = new Map<number | string, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}

function answerOf(session: ClientHttp2Session, head: Record<string, string>, body?: Buffer): Promise<number | string> {
  return new Promise((resolve) => {
    const stream = session.request(head, { endStream: false });
    stream.once('response', (headers) => resolve(headers[':status'] ?? 0));
    stream.once('error', (error: Error & { code?: string }) => resolve(error.code ?? 'error'));
    stream.once('close', () => resolve('closed'));
    if (body !== undefined) stream.write(body);
  });
}

async function connectWithoutPath({ access }: AttackedServer): Promise<string> {
  const session = openSession(access);
  const status = await answerOf(session, { ':method': 'CONNECT', ':authority': 'example:443' });
  session.destroy();
  return String(status);
}

const strangeField = JSON.stringify({ metadata: { generateName: 'strange-' }, 'поле-𝒳': 1 });
const key = 'k'.repeat(3000);
const duplicates = `{"metadata":{"generateName":"doubled-"},"data":{${Array.from({ length: 500 }, () => `"${key}":"v"`).join(',')}}}`;

function post(body: string, http: 1 | 2): Attack['run'] {
  return async ({ access }) => {
    const { status, headers } = await send(access, { method: 'POST', path: CONFIG_MAPS, body, http });
    const warnings = [headers['warning'] ?? []].flat().join('').length;
    return `${status}, ${warnings} characters of warnings`;
  };
}

async function unfinishedBodies({ access }: AttackedServer): Promise<string> {
  const session = openSession(access);
  const body = Buffer.alloc(BODY_BYTES - 1, 0x20);
  const head = { ':method': 'POST', ':path': CONFIG_MAPS, 'content-length': String(BODY_BYTES) };
  const answers = await Promise.all(Array.from({ length: UNFINISHED }, () => answerOf(session, head, body)));
  session.destroy();
  return countOf(answers);
}

async function unfinishedHeads({ access }: AttackedServer): Promise<string> {
  const opened = await Promise.all(Array.from({ length: HEADS }, () => openSocket(access)));
  const head = `GET /version HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}`;
  for (const socket of opened) socket?.write(head);
  const { status } = await send(access, { method: 'GET', path: '/version', as: 'nobody' });
  const there = opened.filter((socket) => socket?.destroyed === false).length;
  for (const socket of opened) socket?.destroy();
  return `${there} of ${HEADS} connections kept; /version meanwhile ${status}`;
}

async function rapidReset({ access }: AttackedServer): Promise<string> {
  const session = openSession(access);
  let sent = 0;
  for (; sent < RESETS && !session.destroyed && !session.closed; sent += 1) {
    const stream = session.request({ ':path': '/version' });
    stream.on('error', () => {});
    stream.close(constants.NGHTTP2_CANCEL);
    if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const cut = session.destroyed || session.closed;
  session.destroy();
  return `${sent} resets${cut ? ', then the connection was cut' : ''}`;
}

function floodOf(bytes: Buffer): Attack['run'] {
  return async ({ access }) => {
    const sockets = await Promise.all([openSocket(access, 'h2'), openSocket(access, 'h2')]);
    await Promise.all(sockets.flatMap((socket) => (socket === undefined ? [] : [flood(socket, bytes)])));
    const { status } = await send(access, { method: 'GET', path: '/version', as: 'nobody', http: 2 });
    const cut = sockets.filter((socket) => socket === undefined || socket.destroyed).length;
    for (const socket of sockets) socket?.destroy();
    return `${cut} of 2 connections were cut; /version meanwhile ${status}`;
  };
}

const LONG_FLOODS: Readonly<Record<string, string>> = {
  'streams that are reset at once':
    'one read has up to 2,300 heads, and Node makes an object of each before it looks up',
};

export const httpAttacks: readonly Attack[] = [
  { name: '17.1 CONNECT without a path', run: connectWithoutPath },
  { name: '17.2 unknown field beyond Latin-1, HTTP/1.1', run: post(strangeField, 1) },
  { name: '17.2 unknown field beyond Latin-1, HTTP/2', run: post(strangeField, 2) },
  { name: '17.3 duplicate keys of 3,000 characters, HTTP/1.1', run: post(duplicates, 1) },
  { name: '17.3 duplicate keys of 3,000 characters, HTTP/2', run: post(duplicates, 2) },
  { name: `17.10 ${UNFINISHED} unfinished bodies of 2 MB, nobody`, run: unfinishedBodies },
  {
    name: `17.10 ${HEADS} unfinished heads, nobody`,
    knownLong: 'all connections come at once, and a turn of the event loop takes in what up to 1,024 sockets have',
    run: unfinishedHeads,
  },
  { name: `17.10 ${RESETS} streams opened and reset`, run: rapidReset },
  ...Object.entries(floods).map(([name, bytes]) => ({
    name: `17.10 HTTP/2 flood: ${name}`,
    ...(name in LONG_FLOODS && { knownLong: LONG_FLOODS[name] }),
    run: floodOf(bytes),
  })),
];
