/** An API server that accepts and never answers: what a leader does, and what a replica beside it says of itself. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseType, secretType } from '../../src/api/resource-types.ts';
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { CERTIFICATE_SECRET, TOKEN_SECRET, withToken } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { type OperatorProcess, runOperator } from './operator-process.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let client: Client;
let replicas: { readonly process: OperatorProcess; readonly way: Way }[] = [];
let authority = '';
let token = '';

interface Way {
  readonly port: number;
  /** From now on connections are accepted, and nothing comes back on any. */
  stall(): void;
  close(): void;
}

async function wayTo(server: string): Promise<Way> {
  const { hostname, port } = new URL(server);
  const open = new Set<Socket>();
  let stalled = false;
  const proxy: Server = createServer((near) => {
    open.add(near);
    near.on('error', () => {});
    near.once('close', () => open.delete(near));
    const far = connect(Number(port), hostname);
    far.on('error', () => near.destroy());
    near.on('data', (chunk) => stalled || far.write(chunk));
    far.on('data', (chunk) => stalled || near.write(chunk));
    near.once('close', () => far.destroy());
    far.once('close', () => stalled || near.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as { port: number }).port,
    stall: () => (stalled = true),
    close() {
      for (const socket of open) socket.destroy();
      proxy.close();
    },
  };
}

async function startReplica(identity: string): Promise<{ process: OperatorProcess; way: Way }> {
  const way = await wayTo(plane.server);
  const config = readFileSync(plane.kubeconfig, 'utf8').replaceAll(plane.server, `https://127.0.0.1:${way.port}`);
  const kubeconfig = join(plane.folder, `kubeconfig-${identity}`);
  writeFileSync(kubeconfig, config, { mode: 0o600 });
  const process = runOperator(kubeconfig, identity);
  await stage.until(`${identity} to be ready`, () => process.port() !== undefined, 240_000);
  return { process, way };
}

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  await stage.prepareCluster(plane);
  client = createClient({
    transport: createHttpTransport(loadKubeconfig({ path: plane.kubeconfig })).send,
    userAgent: 'test',
  });
  replicas = [await startReplica('one'), await startReplica('two')];
  const read = async (name: string, key: string): Promise<string> => {
    const { data } = await client.get(secretType, { namespace: stage.NAMESPACE, name });
    return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  };
  authority = await read(CERTIFICATE_SECRET, 'ca.crt');
  token = await read(TOKEN_SECRET, 'token');
});

afterAll(async () => {
  for (const { process, way } of replicas) {
    await process.stop();
    way.close();
  }
  await plane?.stop();
});

function ask(port: number, path: string, body?: object): Promise<{ status: number; text: string }> {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? {} : { 'content-length': Buffer.byteLength(text) },
        ca: authority,
        agent: false,
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: answer }));
      },
    );
    call.on('error', reject);
    call.end(text);
  });
}

/** Of a pod that nobody knows: the replica has to ask the API server about it. */
async function evict(port: number): Promise<{ code: number | undefined; tookMs: number }> {
  const started = performance.now();
  const answer = await ask(port, withToken(token, '/validate-eviction?timeout=10s'), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      namespace: 'default',
      name: 'nobody',
      userInfo: { username: 'drainer' },
      object: { metadata: { name: 'nobody' } },
    },
  });
  const { response } = JSON.parse(answer.text) as { response: { status?: { code: number } } };
  return { code: response.status?.code, tookMs: performance.now() - started };
}

test('18.6: GR-12 a leader whose API server no longer answers steps down and ends; its reviews are answered', async () => {
  const [first] = replicas;
  if (first === undefined) throw new Error('no replica');
  const lease = await client.get(leaseType, { namespace: stage.NAMESPACE, name: 'quorate' });
  expect(lease.spec?.holderIdentity).toBe('one');
  const port = first.process.port() ?? 0;
  const stalledMs = performance.now();
  first.way.stall();
  const ended = stage
    .until('the leader to end', () => first.process.port() === undefined, 60_000)
    .then(() => {
      return performance.now() - stalledMs;
    });
  const { code, tookMs } = await evict(port);
  expect(code).toBe(429);
  expect(tookMs).toBeLessThan(8500);
  expect(await ended).toBeLessThan(14_000);
  expect(first.process.output()).toContain('could not renew the leader lease for 10 s');
  await stage.until('the other replica to lead', async () => {
    const now = await client.get(leaseType, { namespace: stage.NAMESPACE, name: 'quorate' });
    return now.spec?.holderIdentity === 'two';
  });
});

test('18.6: HL-01 a replica that hears nothing more says so, and evictions are told to come again', async () => {
  // A third stands by beside the leader, so that nothing but its own silence is against it.
  const third = await startReplica('three');
  replicas.push(third);
  const port = third.process.port() ?? 0;
  expect((await ask(port, '/readyz?verbose')).text).toContain('[+]caches ok');
  const stalledMs = performance.now();
  third.way.stall();
  await stage.until('not ready', async () => (await ask(port, '/readyz')).status === 503, 30_000);
  expect((await ask(port, '/readyz')).text).toContain('[-]api-server: it has not answered for');
  expect((await ask(port, '/livez')).status).toBe(200);
  await stage.until('no live caches', async () => (await ask(port, '/readyz')).text.includes('[-]caches'), 120_000);
  expect(performance.now() - stalledMs).toBeLessThan(80_000);
  const { code, tookMs } = await evict(port);
  expect(code).toBe(429);
  expect(tookMs).toBeLessThan(1000);
});
