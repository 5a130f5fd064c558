/** The sockets: TLS with HTTP/2 and HTTP/1.1 on one port, or plain HTTP/1.1 for tests. */
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { type Logger, silentLogger } from '../../machinery/runtime/index.ts';
import type { ApiHandler } from '../exchange/exchange.ts';
import { BodiesInFlight } from './bodies-in-flight.ts';
import { type Http1Options, http1Wire } from './http1-wire.ts';
import { http2Wire } from './http2-wire.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { type Serving, serve } from './serve.ts';
import { trackSessions } from './sessions.ts';
import { StreamTurns } from './stream-turns.ts';
import { createTlsServer, type TlsMaterial } from './tls-server.ts';

export interface ServerListenOptions {
  readonly handle: ApiHandler;
  readonly port: number;
  readonly address: string;
  readonly tls?: TlsMaterial;
  readonly log?: Logger;
  readonly limits?: Partial<HttpLimits>;
}

export interface Listening {
  readonly port: number;
  readonly address: string;
  /** Of the request bodies that are being received or handled. */
  bodyBytesInFlight(): number;
  /** Serves new connections with a renewed certificate. */
  renew(tls: TlsMaterial): void;
  close(): Promise<void>;
}

export async function listen(options: ServerListenOptions): Promise<Listening> {
  const { handle, log = silentLogger, tls } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const serving: Serving = { handle, limits, log, bodies: new BodiesInFlight(limits) };
  const secure = tls && createTlsServer(tls, limits);
  const server: Server =
    secure ?? createServer({ maxHeaderSize: limits.headBytes, connectionsCheckingInterval: limits.checkMs });
  // `maxHeadersCount` makes Node pass over what comes after; here too many are refused.
  Object.assign(server, {
    maxConnections: limits.connections,
    maxHeadersCount: 0,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, limits.idleMs);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('drop', () => sayFull(log, limits.connections));
  serveHttp1(server, serving);
  const endSessions = secure === undefined ? () => {} : serveHttp2(secure, serving);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => log.error({ err: error }, 'the listening socket failed'));
  const { port, address } = server.address() as AddressInfo;
  return {
    port,
    address,
    bodyBytesInFlight: () => serving.bodies.bytes,
    renew: ({ authority, certificate, key }) =>
      secure?.setSecureContext({ cert: certificate, key, ...(authority !== undefined && { ca: authority }) }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      endSessions();
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

const SAY_FULL_EVERY_MS = 60_000;
let saidFullAt = Number.NEGATIVE_INFINITY;

/** Said once a minute: whoever fills the server up shall not fill the disk with logs. */
function sayFull(log: Logger, limit: number): void {
  if (performance.now() - saidFullAt < SAY_FULL_EVERY_MS) return;
  saidFullAt = performance.now();
  log.warn({ limit }, 'new connections are refused: as many as the limit allows are open');
}

function serveHttp1(server: Server, serving: Serving): void {
  const serveOne = (incoming: IncomingMessage, outgoing: ServerResponse, options: Http1Options = {}): void => {
    outgoing.on('error', () => {});
    const cut = (): void => void incoming.socket.destroy();
    void serve(serving, () => http1Wire(incoming, outgoing, options), cut);
  };
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => serveOne(incoming, outgoing));
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) =>
    serveOne(incoming, outgoing, { waits: true }),
  );
  // Node hands over the bare socket in these two; the client gets an answer like any other, and it is the last.
  const onBareSocket = (incoming: IncomingMessage, socket: Socket, options: Http1Options): void => {
    socket.on('error', () => {});
    const outgoing = new ServerResponse(incoming);
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(socket);
    outgoing.once('finish', () => socket.end());
    serveOne(incoming, outgoing, options);
  };
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => onBareSocket(incoming, socket, {}));
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) =>
    onBareSocket(incoming, socket, { upgrade: { socket, head } }),
  );
  server.on('clientError', refuse);
}

/** What Node could not read as a request. */
function refuse({ code }: Error & { code?: string }, socket: Socket): void {
  const line =
    code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  // Half an answer may be out already; more would be taken for a part of it.
  const isAnswering = (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent === true;
  if (socket.writable && !isAnswering) {
    socket.write(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${line}`);
  }
  socket.destroySoon();
}

/** Returns how to end every session. */
function serveHttp2(server: Http2SecureServer, serving: Serving): () => void {
  // A handshake that broke off or took too long; Node leaves the socket to whoever listens.
  server.on('tlsClientError', (_error: Error, socket: Socket) => void socket.destroy());
  const sessions = trackSessions(server, serving.limits);
  const turns = new StreamTurns();
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: readonly string[]) => {
      stream.on('error', () => {});
      turns.serve(() => {
        if (stream.closed || stream.destroyed) return;
        void serve(
          serving,
          () => http2Wire(stream, headers, raw.length / 2),
          () => void stream.destroy(),
        );
      });
    },
  );
  return () => sessions.close();
}
