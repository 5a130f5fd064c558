/** What a dashboard that was started with writes passes on, for whom, and what it does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtinType } from '../../api/registry.ts';
import { UI_HEADER } from '../../api/ui/stream.ts';
import type { ApiRequest, ApiResponse } from '../../apiserver/index.ts';
import { silentLogger } from '../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';
import { createEmbeddedDashboard, type EmbeddedDashboard } from './embedded.ts';

let plane: ControlPlane;
let dashboard: EmbeddedDashboard;
let cookie: string;

const OWN = { host: '127.0.0.1:6443', [UI_HEADER]: '1', 'sec-fetch-site': 'same-origin' };
const MAINTENANCES = '/ui/k8s/apis/policy.quorate.dev/v1alpha1/maintenances';
const CORDON = { spec: { unschedulable: true } };

beforeAll(async () => {
  plane = await startControlPlane();
  await plane.client.create(builtinType('Node'), { metadata: { name: 'node-a' } });
  const { clock, server } = plane;
  const url = (): string => 'https://127.0.0.1:6443';
  const options = { api: server.handle, client: plane.client, url, names: [], clock, log: silentLogger, writes: true };
  dashboard = createEmbeddedDashboard(options);
  const [, code = ''] = dashboard.loginPath().split('#login=');
  const { headers } = await send('POST', '/ui/session', code);
  cookie = String(headers['set-cookie']).split(';', 1)[0] as string;
});
afterAll(async () => {
  dashboard.close();
  await plane.stop();
});

function send(method: string, url: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const request: ApiRequest = {
    method,
    url,
    headers: { ...OWN, ...(cookie !== undefined && { cookie }), 'content-type': type, ...headers },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    signal: new AbortController().signal,
    peer: {},
  };
  return dashboard.handle(request);
}

test('22.1: the page is told that it may', async () => {
  const { body } = await send('GET', '/ui/session', '');
  expect(JSON.parse(Buffer.from(body as Uint8Array).toString('utf8'))).toMatchObject({ writes: true });
});

test('22.1: a node is cordoned, and a Maintenance made, paused and resumed', async () => {
  expect((await send('PATCH', '/ui/k8s/api/v1/nodes/node-a', CORDON)).status).toBe(200);
  const node = await plane.client.get(builtinType('Node'), { name: 'node-a' });
  expect(node).toMatchObject(CORDON);
  const spec = { nodes: { names: ['node-a'] } };
  const maintenance = { apiVersion: 'policy.quorate.dev/v1alpha1', kind: 'Maintenance', metadata: { name: 'm' }, spec };
  expect((await send('POST', MAINTENANCES, maintenance)).status).toBe(201);
  for (const paused of [true, false]) {
    expect((await send('PATCH', `${MAINTENANCES}/m`, { spec: { paused } })).status).toBe(200);
  }
});

describe('22.1: nothing else is passed on', () => {
  for (const [method, path] of [
    ['PATCH', '/ui/k8s/api/v1/namespaces/default/pods/a'],
    ['POST', '/ui/k8s/api/v1/namespaces/default/pods/a/eviction'],
    ['PATCH', '/ui/k8s/api/v1/nodes/node-a/status'],
    ['PATCH', '/ui/k8s/api/v1/nodes/..%2fpods'],
    ['PATCH', '/ui/k8s/api/v1/nodes/..'],
    ['PATCH', '/ui/k8s/api/v1/nodes/node-a?dryRun=All'],
    ['PUT', '/ui/k8s/api/v1/nodes/node-a'],
    ['DELETE', '/ui/k8s/api/v1/nodes/node-a'],
    ['DELETE', `${MAINTENANCES}/m`],
  ] as const) {
    test(`${method} ${path}`, async () => {
      expect((await send(method, path, CORDON)).status).toBe(405);
    });
  }
});

test('22.1: a page from elsewhere cannot act, with the cookie or without', async () => {
  const path = '/ui/k8s/api/v1/nodes/node-a';
  expect((await send('PATCH', path, CORDON, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await send('PATCH', path, CORDON, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await send('PATCH', path, CORDON, { host: 'evil.example' })).status).toBe(421);
  expect((await send('PATCH', path, CORDON, { cookie: '' })).status).toBe(401);
});
