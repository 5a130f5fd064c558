import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { gatherChunks } from './gathered-chunks.ts';
import type { Credentials } from './exec-credentials.ts';
import { DeadlineError, KeptConnections } from './kept-connections.ts';
import type { ServerAccess } from './kubeconfig.ts';
import { createProxyAgent } from './proxy-agent.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface HttpTransport {
  readonly send: Transport;
  /** Closes idle connections; a request under way is not cut. */
  close(): void;
}

const MAX_CONNECTIONS = 256;
const CONNECT_TIMEOUT_MS = 15_000;

interface Pool {
  /** For what is wanted as a stream, and for everything through a proxy. */
  readonly agent: HttpAgent;
  readonly kept: KeptConnections | undefined;
  readonly credentials: Credentials | undefined;
}

/** Reaches an API server over the network, with connections kept open between requests. */
export function createHttpTransport(access: ServerAccess): HttpTransport {
  const url = new URL(access.server);
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (secure ? 443 : 80));
  const base = url.pathname.replace(/\/+$/, '');
  const place = { host, port, secure };
  let pool = openPool(access, place, undefined);

  /** Another certificate needs other connections. */
  const poolFor = (credentials: Credentials | undefined): Pool => {
    if (credentials?.clientCert === pool.credentials?.clientCert) return pool;
    closePool(pool);
    pool = openPool(access, place, credentials);
    return pool;
  };

  const send: Transport = async (request) => {
    const credentials = await access.exec?.get();
    const token = credentials?.token ?? (await access.token?.());
    const { agent, kept } = poolFor(credentials);
    const { body, deadlineMs, method } = request;
    const path = base + request.path;
    const headers: Record<string, string | readonly string[]> = {
      ...request.headers,
      ...access.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const start = (): Promise<TransportResponse> => {
      if (kept !== undefined && request.whole === true && request.signal === undefined && method !== 'HEAD')
        return kept.send({ method, path, headers, body, deadlineMs });
      // Without a length a DELETE's body would go out unframed, and be taken for the start of the next request.
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = { agent, host, port, method, path, headers: { ...headers, ...length } } as RequestOptions;
      return exchange(secure ? httpsRequest : httpRequest, options, request);
    };
    try {
      const response = await start();
      if (response.status === 401) access.exec?.forget();
      return response;
    } catch (error) {
      // The server may close a kept connection just as a request goes out on it; reading again is harmless.
      if (request.method === 'GET' && isReset(error) && !request.signal?.aborted) return start();
      throw unreachable(error as NodeJS.ErrnoException, { host, port }) ?? error;
    }
  };
  return { send, close: () => closePool(pool) };
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

function openPool(access: ServerAccess, { host, port, secure }: Place, credentials: Credentials | undefined): Pool {
  const pool = { keepAlive: true, maxSockets: MAX_CONNECTIONS, scheduling: 'lifo' as const };
  const cert = credentials?.clientCert ?? access.clientCert;
  const key = credentials?.clientKey ?? access.clientKey;
  const tls = {
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(access.serverName === undefined ? {} : { servername: access.serverName }),
    rejectUnauthorized: access.skipVerify !== true,
  };
  // Built once: every connection would otherwise read the certificates again.
  const secured = secure ? { ...tls, secureContext: createSecureContext(tls) } : undefined;
  const named = secured && { ...(isIP(host) === 0 && { servername: host }), ...secured };
  if (access.proxy !== undefined) {
    const agent = createProxyAgent(access.proxy, { host, port, tls: named, timeoutMs: CONNECT_TIMEOUT_MS, pool });
    return { agent, kept: undefined, credentials };
  }
  const kept = new KeptConnections({
    host,
    port,
    maxConnections: MAX_CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    tls: named && { ALPNProtocols: ['http/1.1'], ...named },
  });
  return { agent: secure ? new HttpsAgent({ ...pool, ...tls }) : new HttpAgent(pool), kept, credentials };
}

function closePool({ agent, kept }: Pool): void {
  agent.destroy();
  kept?.close();
}

function exchange(
  open: typeof httpRequest,
  options: RequestOptions,
  { body, deadlineMs, gatherMs, method, path, signal, whole }: TransportRequest,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const call = open(options);
    const onAbort = (): void => {
      call.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const late = (): void => {
      call.destroy(new DeadlineError({ deadlineMs, method, path }));
    };
    const timer = deadlineMs === undefined ? undefined : setTimeout(late, deadlineMs);
    const cleanUp = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    call.on('socket', (socket) => {
      if (!socket.connecting) return;
      socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
        socket.destroy(new Error(`no answer from ${options.host}:${options.port}`)),
      );
      socket.once(open === httpRequest ? 'connect' : 'secureConnect', () => socket.setTimeout(0));
    });
    call.once('error', (error) => {
      cleanUp();
      reject(error);
    });
    call.once('response', (response: IncomingMessage) => {
      response.once('close', cleanUp);
      // Of an answer that is wanted whole the time goes on until its end.
      if (whole !== true) clearTimeout(timer);
      const chunks = gatherMs === undefined ? response : gatherChunks(response, gatherMs);
      resolve({ status: response.statusCode ?? 0, headers: flatten(response.headers), body: chunks });
    });
    call.end(body);
  });
}

function flatten(headers: IncomingMessage['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function isReset(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
};

/** A connection that could not be made, in words; keeps the code, by which callers tell what to do. */
function unreachable(error: NodeJS.ErrnoException, { host, port }: RequestOptions): Error | undefined {
  const { code = '' } = error;
  const cause = CAUSES[code];
  if (cause === undefined) return undefined;
  return Object.assign(
    new Error(`cannot reach the API server at ${host}:${port}: ${cause} (${code})`, { cause: error }),
    {
      code,
    },
  );
}
