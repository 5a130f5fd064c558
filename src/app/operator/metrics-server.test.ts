import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { createAuthority, issueServer, type KeyPair } from '../../machinery/runtime/certificates.ts';
import { createClient, ManualClock, Metrics, silentLogger } from '../../machinery/runtime/index.ts';
import { delegateAccess } from './delegated-access.ts';
import { type MetricsServer, startMetricsServer } from './metrics-server.ts';

let server: MetricsServer | undefined;
afterEach(() => server?.close());

/** An API server that knows two tokens, and lets one of them read. */
function apiServer() {
  const asked: string[] = [];
  const state = { away: false };
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, path }) => {
      if (state.away) return Promise.reject(new Error('no answer'));
      const { spec } = JSON.parse(String(body)) as {
        spec: { token?: string; user?: string; nonResourceAttributes?: object };
      };
      asked.push(path);
      const status = path.endsWith('/tokenreviews')
        ? { authenticated: spec.token !== 'forged', user: { username: spec.token, groups: ['g'] } }
        : { allowed: spec.user === 'prometheus' && JSON.stringify(spec).includes('"path":"/metrics","verb":"get"') };
      return Promise.resolve({ status: 201, headers: {}, body: Buffer.from(JSON.stringify({ status })) });
    },
  });
  return { asked, client, state };
}

async function start() {
  const clock = new ManualClock();
  const now = Date.now();
  const authority = await createAuthority('test', { now, days: 1 });
  const certificate = await issueServer(authority, 'metrics', ['127.0.0.1'], { now, days: 1 });
  const { asked, client, state } = apiServer();
  const metrics = new Metrics();
  metrics.counter('quorate_ledger_conflicts_total').inc();
  const guard = { certificate, access: delegateAccess({ client, clock }) };
  server = await startMetricsServer({ metrics, host: '127.0.0.1', port: 0, log: silentLogger, guard });
  return { asked, clock, state, get: (token?: string, path?: string) => get(authority, token, path) };
}

function get(authority: KeyPair | undefined, token?: string, path = '/metrics'): Promise<[number, string]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { host: '127.0.0.1', port: server?.port, path, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const call = (
      authority === undefined ? plainRequest(options) : request({ ...options, ca: authority.certificate })
    ).once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    call.on('error', reject);
    call.end();
  });
}

test('17.15: metrics are read over TLS by those whom the API server knows and lets', async () => {
  const { asked, clock, get: read, state } = await start();
  expect((await read())[0]).toBe(401);
  expect(asked).toEqual([]);
  expect((await read('forged'))[0]).toBe(401);
  expect((await read('somebody'))[0]).toBe(403);
  expect(await read('prometheus')).toEqual([200, expect.stringContaining('quorate_ledger_conflicts_total 1')]);
  expect((await read('prometheus', '/other'))[0]).toBe(404);
  const before = asked.length;
  expect((await read('prometheus'))[0]).toBe(200);
  expect(asked.length).toBe(before);
  await clock.advance(10_001);
  state.away = true;
  expect((await read('prometheus'))[0]).toBe(503);
  await expect(get(undefined, 'prometheus')).rejects.toThrow();
});

test('17.15: --metrics-open lets anybody read them without TLS', async () => {
  const metrics = new Metrics();
  metrics.counter('quorate_ledger_conflicts_total').inc();
  server = await startMetricsServer({ metrics, host: '127.0.0.1', port: 0, log: silentLogger });
  expect(await get(undefined)).toEqual([200, expect.stringContaining('quorate_ledger_conflicts_total 1')]);
});
