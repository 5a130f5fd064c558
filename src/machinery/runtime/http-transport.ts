import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { Exchange } from './exchange.ts';
import type { Credentials } from './exec-credentials.ts';
import type { ServerAccess } from './kubeconfig.ts';
import type { Transport, TransportResponse } from './transport.ts';

export interface HttpTransport {
  readonly send: Transport;
  /** Closes idle connections; a request under way is not cut. */
  close(): void;
}

const CONNECT_TIMEOUT_MS = 15_000;
const CONNECTIONS = {
  connections: 256,
  /** A connection idle for longer is not trusted with a request: what lies between may have dropped it unsaid. */
  keepAliveTimeout: 60_000,
  // A watch may be silent for long; each request brings its own deadline.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;
/** After so long without traffic the kernel asks whether the other side is still there. */
const PROBE = { keepAlive: true, keepAliveInitialDelay: 1000, timeout: CONNECT_TIMEOUT_MS } as const;

/** Reaches an API server over the network, with connections kept open between requests. */
export function createHttpTransport(access: ServerAccess): HttpTransport {
  const { origin, pathname } = new URL(access.server);
  const base = pathname.replace(/\/+$/, '');
  let credentials: Credentials | undefined;
  let pool = openPool(access, credentials);

  /** Another certificate needs other connections. */
  const poolFor = (given: Credentials | undefined): Dispatcher => {
    if (given?.clientCert === credentials?.clientCert) return pool;
    void pool.close();
    credentials = given;
    pool = openPool(access, credentials);
    return pool;
  };

  const send: Transport = async (request) => {
    const given = await access.exec?.get();
    const token = given?.token ?? (await access.token?.());
    const start = (): Promise<TransportResponse> => {
      request.signal?.throwIfAborted();
      const exchange = new Exchange(request);
      poolFor(given).dispatch(
        {
          origin,
          method: request.method,
          path: base + request.path,
          headers: {
            ...request.headers,
            ...access.headers,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          },
          body: request.body ?? null,
          // Without this a DELETE with a body would cost its connection.
          reset: false,
        } as Dispatcher.DispatchOptions,
        exchange,
      );
      return exchange.response;
    };
    try {
      const response = await start().catch((error: unknown) => {
        // The server may close a kept connection just as a request goes out on it; reading again is harmless.
        if (request.method === 'GET' && isReset(error) && !request.signal?.aborted) return start();
        throw error;
      });
      if (response.status === 401) access.exec?.forget();
      return response;
    } catch (error) {
      throw inWords(error as NodeJS.ErrnoException, access);
    }
  };
  return { send, close: () => void pool.close() };
}

function openPool(access: ServerAccess, credentials: Credentials | undefined): Dispatcher {
  const { hostname, origin, protocol } = new URL(access.server);
  const cert = credentials?.clientCert ?? access.clientCert;
  const key = credentials?.clientKey ?? access.clientKey;
  const name = access.serverName ?? (isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : undefined);
  const tls = {
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(name === undefined ? {} : { servername: name }),
    rejectUnauthorized: access.skipVerify !== true,
  };
  // Built once: every connection would otherwise read the certificates again.
  const connect = protocol === 'https:' ? { ...tls, ...PROBE, secureContext: createSecureContext(tls) } : PROBE;
  if (access.proxy === undefined) return new Pool(origin, { ...CONNECTIONS, connect });
  return new ProxyAgent({
    ...CONNECTIONS,
    uri: access.proxy.href,
    ...proxyToken(access.proxy),
    requestTls: connect,
    proxyTls: PROBE,
  });
}

/** A user without a password too. */
function proxyToken({ password, username }: URL): { token?: string } {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { token: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function isReset(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET';
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`,
};

/** A connection that could not be made or was lost, in words; keeps the code, by which callers tell what to do. */
function inWords(error: NodeJS.ErrnoException, { proxy, server }: ServerAccess): Error {
  const { code = '', message } = error;
  const { host } = new URL(server);
  const cause = CAUSES[code];
  const say = (text: string): Error => Object.assign(new Error(text, { cause: error }), { code });
  if (proxy !== undefined && (cause !== undefined || message.startsWith('Proxy response'))) {
    return say(`cannot reach the API server at ${host} through the proxy ${proxy.host}: ${cause ?? message} (${code})`);
  }
  if (cause !== undefined) return say(`cannot reach the API server at ${host}: ${cause} (${code})`);
  return isReset(error) ? say(`the API server closed the connection (${code})`) : error;
}
