/** A listening server with access control, and clients that send what no library would. */
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { builtinType } from '../../api/registry.ts';
import { createClient, systemClock } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { bootstrapRoles, createAuth, openPki } from '../auth/index.ts';
import type { ApiHandler } from '../exchange/exchange.ts';
import { inProcessTransport } from '../server/in-process.ts';
import { builtinResources } from '../kinds/resources.ts';
import { createApiServer } from '../server/server.ts';
import type { HttpLimits } from './limits.ts';
import { listen } from './listen.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in these pieces, one after the other went out. */
  readonly pieces?: readonly string[];
  /** The body never ends. */
  readonly unfinished?: boolean;
}

export interface EdgeOptions {
  readonly limits?: Partial<HttpLimits>;
  /** In place of the API server. */
  readonly handle?: ApiHandler;
}

const pkis = openPki({ clock: systemClock });

export type Edge = Awaited<ReturnType<typeof startEdge>>;

export async function startEdge({ limits, handle }: EdgeOptions = {}) {
  const pki = await pkis;
  const plane = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    access: (reads) => createAuth({ reads, pki, clock: systemClock, newUid: () => crypto.randomUUID() }),
  });
  const client = createClient({ transport: inProcessTransport(plane.handle), userAgent: 'test' });
  await client.create(builtinType('Namespace'), { metadata: { name: 'default' } });
  await bootstrapRoles(client);
  const listening = await listen({
    handle: handle ?? plane.handle,
    port: 0,
    address: '127.0.0.1',
    tls: { certificate: pki.server.certificate, key: pki.server.key, authority: pki.authority.certificate },
    ...(limits && { limits }),
  });
  const trust = { ca: pki.authority.certificate };
  const socket = (protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const opened = connectTls({ ...trust, host: '127.0.0.1', port: listening.port, ALPNProtocols: [protocol] }, () =>
        resolve(opened),
      );
      opened.once('error', reject);
      opened.on('error', () => {});
    });
  const session = (): ClientHttp2Session => {
    const opened = connectHttp2(`https://127.0.0.1:${listening.port}`, trust);
    opened.on('error', () => {});
    return opened;
  };
  return {
    plane,
    port: listening.port,
    bodyBytesInFlight: () => listening.bodyBytesInFlight(),
    admin: { authorization: `Bearer ${pki.adminToken}` },
    socket,
    session,
    http1: async (request: Request) => sendHttp1(await socket('http/1.1'), request),
    http2: (request: Request) => sendHttp2(session(), request),
    async stop() {
      await listening.close();
      plane.close();
    },
  };
}

async function sendHttp1(socket: TLSSocket, request: Request): Promise<Answer> {
  const { method, path, headers = {}, pieces = [], unfinished = false } = request;
  const length = Buffer.byteLength(pieces.join('')) + (unfinished ? 1 : 0);
  const lines = Object.entries({ host: 'x', 'content-length': String(length), ...headers });
  const answered = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (isWhole(text)) resolve(text);
    });
    socket.once('close', () => resolve(text));
  });
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  for (const piece of [head, ...pieces]) {
    if (piece !== '') await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  }
  const text = await answered;
  socket.destroy();
  return parseAnswer(text);
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(text)?.[1];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

export function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string[]> = {};
  for (const line of lines) {
    const colon = line.indexOf(': ');
    (headers[line.slice(0, colon).toLowerCase()] ??= []).push(line.slice(colon + 2));
  }
  return { status: Number(first.slice(9, 12)), headers, body: text.slice(end + 4) };
}

/** The status is 0 when the stream or the connection ended without one. */
export async function sendHttp2(session: ClientHttp2Session, request: Request, close = true): Promise<Answer> {
  const { method, path, headers = {}, pieces = [], unfinished = false } = request;
  const target: OutgoingHttpHeaders =
    method === 'CONNECT' ? { ':authority': path } : { ':path': path, ':scheme': 'https', ':authority': 'x' };
  const stream = session.request({ ':method': method, ...target, ...headers }, { endStream: false });
  let answered: Record<string, string | string[] | undefined> = {};
  let body = '';
  const ended = new Promise<void>((resolve) => {
    stream.on('response', (got) => {
      answered = got as typeof answered;
    });
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    stream.on('error', () => {});
    stream.once('end', resolve);
    stream.once('close', resolve);
  });
  for (const piece of pieces) await new Promise<void>((resolve) => stream.write(piece, () => resolve()));
  if (!unfinished) stream.end();
  await ended;
  if (close) session.destroy();
  return { status: Number(answered[':status'] ?? 0), headers: answered, body };
}

/** The texts of the `Warning` headers, as a client that reads UTF-8 sees them. */
export function warningsOf({ headers }: Answer): readonly string[] {
  const lines = [headers['warning'] ?? []].flat().join(', ');
  const texts = Buffer.from(lines, 'latin1')
    .toString('utf8')
    .matchAll(/299 - "((?:[^"\\]|\\.)*)"/g);
  return [...texts].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
