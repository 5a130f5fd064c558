/** The sockets: TLS with HTTP/2 and HTTP/1.1 on one port, or plain HTTP/1.1 for tests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { type ApiHandler, IncomingRequest } from '../exchange.ts';
import { errorResponse } from '../response/respond.ts';
import { tooLargeBody } from '../status.ts';
import { httpDate, withTimeout } from './answer.ts';
import { Departure } from './departure.ts';
import { serveFastLane } from './fast-lane.ts';
import { peerOf } from './peer.ts';
import { MAX_BODY_BYTES, readRequestBody } from './read-body.ts';
import { writeChunks, writeStream } from './write-response.ts';

export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Client certificates signed by this are believed. */
  readonly authority: string;
}

export interface ListenOptions {
  readonly handle: ApiHandler;
  readonly port: number;
  readonly address: string;
  readonly tls?: TlsMaterial;
  /** HTTP upgrades (exec, port-forward); refused when absent. */
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

export interface Listening {
  readonly port: number;
  readonly address: string;
  /** Serves new connections with a renewed certificate. */
  renew(tls: TlsMaterial): void;
  close(): Promise<void>;
}

/** As much as Go's server takes; long selectors travel in the URL. */
const MAX_HEADER_BYTES = 1024 * 1024;
const MAX_STREAMS = 10_000;
const MEGABYTES_PER_SESSION = 512;

export async function listen(options: ListenOptions): Promise<Listening> {
  const { tls } = options;
  const sessions = new Set<Http2Session>();
  const sockets = new Set<Socket>();
  const server = tls === undefined ? createServer({ maxHeaderSize: MAX_HEADER_BYTES }) : createTlsServer(tls);
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  divert(server, tls === undefined ? 'connection' : 'secureConnection', options.handle);
  // A client may break off in the middle of the handshake; that is no concern of ours.
  server.on('tlsClientError', () => {});
  server.on('clientError', (_error: Error, socket: Socket) => socket.destroy());
  server.on(
    'request',
    (request: IncomingMessage, response: ServerResponse) => void serveHttp1(options.handle, request, response),
  );
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (options.upgrade !== undefined) options.upgrade(request, socket, head);
    else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  if (tls !== undefined) {
    server.on('session', (session: Http2Session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
      session.on('error', () => session.destroy());
    });
    server.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void serveHttp2(options.handle, stream, headers),
    );
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const { port, address } = server.address() as AddressInfo;
  return {
    port,
    address,
    renew: ({ certificate, key, authority }) =>
      (server as unknown as Http2SecureServer).setSecureContext({ cert: certificate, key, ca: authority }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

/** Sends HTTP/1.1 connections down the fast lane; Node's own listener gets the rest, and those that leave it. */
function divert(server: Server, event: 'connection' | 'secureConnection', handle: ApiHandler): void {
  const [own] = server.listeners(event) as ((socket: Socket) => void)[];
  if (own === undefined) throw new Error(`The server does not listen for ${event}`);
  server.removeListener(event, own);
  server.on(event, (socket: Socket & { alpnProtocol?: string | false }) => {
    const toNode = (): void => own.call(server, socket);
    if (socket.alpnProtocol === 'h2') toNode();
    else serveFastLane(handle, socket, toNode);
  });
}

function createTlsServer({ certificate, key, authority }: TlsMaterial): Server {
  const server = createSecureServer({
    allowHTTP1: true,
    cert: certificate,
    key,
    ca: authority,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    maxSessionMemory: MEGABYTES_PER_SESSION,
    settings: {
      maxConcurrentStreams: MAX_STREAMS,
      initialWindowSize: 1024 * 1024,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
  });
  // Without this listener Node wraps every HTTP/2 stream into HTTP/1 objects as soon as `request` is listened to;
  // `request` is then only emitted for HTTP/1.1.
  server.removeAllListeners('newListener');
  server.setTimeout(0);
  Object.assign(server, { maxHeaderSize: MAX_HEADER_BYTES });
  return server as unknown as Server;
}

function flatten(headers: IncomingHttpHeaders | IncomingMessage['headers']): Record<string, string | undefined> {
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

const lengthOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

async function serveHttp2(handle: ApiHandler, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  stream.on('error', () => {});
  const method = headers[':method'] as string;
  const flat = flatten(headers);
  const body =
    method === 'GET' || method === 'HEAD' || stream.endAfterHeaders
      ? { bytes: undefined }
      : await readRequestBody(stream, lengthOf(flat['content-length']));
  if (body === 'gone' || stream.destroyed || stream.session === undefined) return;
  const gone = new Departure(stream);
  const peer = peerOf(stream.session.socket as unknown as Socket);
  const bytes = body === 'too large' ? undefined : body.bytes;
  const url = headers[':path'] as string;
  const request = new IncomingRequest({ method, url, headers: flat, body: bytes, peer }, () => gone.signal);
  const response =
    body === 'too large' ? errorResponse(tooLargeBody(MAX_BODY_BYTES)) : await withTimeout(handle, request);
  gone.settle();
  if (stream.destroyed || stream.closed) return;
  const out = { ':status': response.status, date: httpDate(), ...response.headers } as Record<
    string,
    string | string[] | number
  >;
  if (response.body instanceof Uint8Array) {
    out['content-length'] = response.body.length;
    stream.respond(out, { endStream: method === 'HEAD' });
    if (method !== 'HEAD') stream.end(response.body);
    return;
  }
  stream.respond(out);
  if (typeof response.body === 'function') writeStream(stream, response.body, () => stream.close());
  else await writeChunks(stream, response.body);
}

async function serveHttp1(handle: ApiHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.on('error', () => {});
  const method = incoming.method ?? 'GET';
  const flat = flatten(incoming.headers);
  const body =
    method === 'GET' || method === 'HEAD'
      ? { bytes: undefined }
      : await readRequestBody(incoming, lengthOf(flat['content-length']));
  if (body === 'gone' || outgoing.destroyed) return;
  const gone = new Departure(outgoing);
  const peer = peerOf(incoming.socket);
  const bytes = body === 'too large' ? undefined : body.bytes;
  const url = incoming.url ?? '/';
  const request = new IncomingRequest({ method, url, headers: flat, body: bytes, peer }, () => gone.signal);
  const response =
    body === 'too large' ? errorResponse(tooLargeBody(MAX_BODY_BYTES)) : await withTimeout(handle, request);
  gone.settle();
  if (outgoing.destroyed) return;
  for (const [name, value] of Object.entries(response.headers)) outgoing.setHeader(name, value as string | string[]);
  if (body === 'too large') outgoing.setHeader('connection', 'close');
  outgoing.statusCode = response.status;
  if (response.body instanceof Uint8Array) {
    outgoing.setHeader('content-length', response.body.length);
    outgoing.end(method === 'HEAD' ? undefined : response.body);
    return;
  }
  outgoing.flushHeaders();
  if (typeof response.body === 'function') writeStream(outgoing, response.body, () => outgoing.destroy());
  else await writeChunks(outgoing, response.body);
}
