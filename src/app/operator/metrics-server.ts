import { createServer as createPlainServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from '../../machinery/runtime/certificates.ts';
import type { Logger, Metrics } from '../../machinery/runtime/index.ts';
import { answerProbe, type ProbeCheck } from '../../webhook/index.ts';
import type { Access, DelegatedAccess } from './delegated-access.ts';

export interface MetricsServerOptions {
  readonly metrics: Metrics;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Logger;
  /** Answered to anyone, by path. */
  readonly probes?: ReadonlyMap<string, readonly ProbeCheck[]> | undefined;
  /** Absent: anybody may read them, without TLS; for a laptop. */
  readonly guard?: { readonly certificate: KeyPair; readonly access: DelegatedAccess } | undefined;
}

export interface MetricsServer {
  readonly port: number;
  setCertificate(pair: KeyPair): void;
  close(): Promise<void>;
}

const LIMITS = { headersTimeout: 10_000, requestTimeout: 10_000, maxHeaderSize: 16_384 };
const MAX_CONNECTIONS = 64;

const REFUSALS: Readonly<Record<Exclude<Access, 'Allowed'>, [status: number, text: string]>> = {
  Unauthenticated: [401, 'metrics are read with a bearer token that the API server knows'],
  Forbidden: [403, 'the bearer of this token may not get /metrics (ClusterRole quorate-metrics lets him)'],
  Busy: [503, 'too many tokens are being looked at, try again'],
};

/** `/metrics`, to whom the API server knows and lets `get` that path. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { guard, host, log, metrics, port, probes } = options;
  const answer: RequestListener = (request, response) => {
    const end = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, {
        'content-type': type,
        ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
        ...(request.method === 'GET' ? {} : { connection: 'close' }),
      });
      response.end(text);
    };
    const serve = async (): Promise<void> => {
      const [path = '/', query = ''] = (request.url ?? '/').split('?');
      const checks = probes?.get(path);
      if (checks !== undefined) {
        const { status, text } = answerProbe(checks, { verbose: new URLSearchParams(query).has('verbose') });
        return end(status, `${text}\n`);
      }
      if (path !== '/metrics') return end(404, 'not found\n');
      if (request.method !== 'GET') return end(405, 'metrics are read by GET\n');
      const access = (await guard?.access.mayGet(bearerOf(request), '/metrics')) ?? 'Allowed';
      if (access !== 'Allowed') return end(REFUSALS[access][0], `${REFUSALS[access][1]}\n`);
      end(200, await metrics.registry.metrics(), metrics.registry.contentType);
    };
    serve().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'cannot ask the API server who may read metrics');
      if (!response.headersSent) end(503, 'cannot ask the API server who may read metrics\n');
    });
  };
  const secure =
    guard && createServer({ cert: guard.certificate.certificate, key: guard.certificate.key, ...LIMITS }, answer);
  const server: Server = secure ?? createPlainServer(LIMITS, answer);
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: (pair) => secure?.setSecureContext({ cert: pair.certificate, key: pair.key }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
