/** PodUnavailableBudgets beside a PodDisruptionBudget on a real cluster: two replicas, and many clients at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../src/api/kruise/types.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  FeatureGates,
  loadKubeconfig,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { type Balancer, balance } from './operator-process.ts';
import * as stage from './stage.ts';
import { codeOf, evict as askEviction } from '../shared/answers.ts';

const namespace = 'default';
const CLIENTS = 64;
const SHARDS = 6;
const SIZE = 3;
const ALLOWED = 2;
const LIMIT_MS = 30_000;

let plane: RealControlPlane;
let nodes: NodesHost;
let replicas: Operator[] = [];
let balancer: Balancer;
let client: Client;
let close: () => void;
const { until } = stage;

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  const gates = new FeatureGates({ PodUnavailableBudgetUpdateGate: true });
  const start = (identity: string) => stage.startReplica(plane, identity, 'alongside', { gates });
  replicas = [await start('first'), await start('second')];
  balancer = await balance(replicas.map(({ webhookPort }) => ({ port: () => webhookPort })));
  const [{ authority }] = replicas as [Operator];
  await stage.registerWebhooks(plane, { authority, webhookPort: balancer.port });
  const http = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  client = createClient({ transport: http.send, userAgent: 'test' });
  close = () => http.close();
});

afterAll(async () => {
  close?.();
  for (const replica of replicas) await replica.stop();
  await balancer?.close();
  nodes?.stop();
  await plane?.stop();
});

const key = (name: string) => ({ namespace, name });
const budgetOf = async (app: string) => (await client.get(POD_UNAVAILABLE_BUDGETS, key(app))).status ?? {};

/** Shards under a PodUnavailableBudget that counts them and a PodDisruptionBudget that counts their pods. */
async function startFleet(app: string, minAvailable: number): Promise<string[]> {
  const names = Array.from({ length: SHARDS * SIZE }, (_, at) => `${app}-${Math.floor(at / SIZE)}-${at % SIZE}`);
  const selector = { matchLabels: { app } };
  await stage.apply(
    plane,
    ...names.map((name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { app, shard: name.slice(0, -2) } },
      spec: {
        nodeName: 'node-0',
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9', resources: { requests: { cpu: '1m' } } }],
      },
    })),
    {
      apiVersion: 'policy.kruise.io/v1beta1',
      kind: 'PodUnavailableBudget',
      metadata: { name: app, namespace },
      spec: {
        selector,
        maxUnavailable: ALLOWED,
        protectTotalReplicas: SHARDS,
        protectOperations: ['DELETE', 'UPDATE', 'EVICT', 'RESIZE'],
        podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: SIZE },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: app, namespace },
      spec: { selector, minAvailable },
    },
  );
  await until('both budgets to count the fleet', async () => {
    const { status } = await client.get(podDisruptionBudgetType, key(app));
    const { currentAvailable, unavailableAllowed } = await budgetOf(app);
    return status?.currentHealthy === names.length && currentAvailable === SHARDS && unavailableAllowed === ALLOWED;
  });
  return names;
}

/** A server that gives up on a webhook in time of need has refused as well. */
const evict = (name: string): Promise<number> => codeOf(askEviction(client, namespace, name));

const OPERATIONS: readonly ((name: string, at: number) => Promise<number>)[] = [
  evict,
  (name) => codeOf(client.delete(podType, key(name))),
  (name, at) => {
    const body = { spec: { containers: [{ name: 'c', image: `registry.k8s.io/pause:${at}` }] } };
    return codeOf(client.patch(podType, key(name), { type: 'strategic', body }));
  },
  (name, at) => {
    const body = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: `${at + 2}m` } } }] } };
    return codeOf(client.patch(podType, key(name), { type: 'strategic', body }, { subresource: 'resize' }));
  },
];

/** Shards that miss a pod, or have one that goes or was granted to be disturbed. */
async function shardsDown(app: string, names: readonly string[]): Promise<number> {
  const { disruptedPods = {}, unavailablePods = {} } = await budgetOf(app);
  const { items } = await client.list(podType, { namespace, labelSelector: `app=${app}` });
  const staying = new Set(
    items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? ''),
  );
  const disturbed = names.filter((name) => !staying.has(name) || name in disruptedPods || name in unavailablePods);
  return new Set(disturbed.map((name) => name.slice(0, -2))).size;
}

test('64 clients that evict, delete, update and resize never have more shards down than two budgets allow', async () => {
  const app = 'mixed';
  const names = await startFleet(app, (SHARDS - ALLOWED) * SIZE);
  const random = seededRandom(7);
  const codes: number[] = [];
  let worst = 0;
  const one = async (at: number): Promise<void> => {
    for (let turn = 0; turn < 2; turn += 1) {
      const name = names[Math.floor(random() * names.length)] as string;
      const operation = OPERATIONS[Math.floor(random() * OPERATIONS.length)] as (typeof OPERATIONS)[number];
      codes.push(await operation(name, at * 2 + turn));
      worst = Math.max(worst, await shardsDown(app, names));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => one(at)));
  expect(worst).toBeLessThanOrEqual(ALLOWED);
  expect(codes).toContain(200);
  expect(codes.filter((code) => code === 429 || code === 403).length).toBeGreaterThan(20);
});

test('W25 H22 what another budget is bound to refuse is not charged; 30 s later nothing is left of what it refused', async () => {
  const app = 'phantom';
  const names = await startFleet(app, SHARDS * SIZE);
  const codes = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => evict(names[at % names.length] as string)),
  );
  expect(codes).toContain(429);
  expect(codes).not.toContain(200);
  // What the other budget is bound to refuse is not even charged.
  expect((await budgetOf(app)).disruptedPods ?? {}).toEqual({});
  const { items } = await client.list(podType, { namespace, labelSelector: `app=${app}` });
  expect(items.filter(({ metadata }) => !metadata.deletionTimestamp)).toHaveLength(names.length);

  // Room for one: of those that ask at once many are charged here before the other budget has to refuse them.
  const spec = { minAvailable: names.length - 1 };
  await client.patch(podDisruptionBudgetType, key(app), { type: 'merge', body: { spec } });
  await until('the other budget to allow one', async () => {
    const { status } = await client.get(podDisruptionBudgetType, key(app));
    return status?.disruptionsAllowed === 1;
  });
  const raced = await Promise.all(names.map(evict));
  expect(raced.filter((code) => code === 200)).toHaveLength(1);
  await until(
    'every charge but the one that was carried out to be gone',
    async () => {
      const { disruptedPods = {}, unavailableAllowed } = await budgetOf(app);
      return Object.keys(disruptedPods).length === 0 && unavailableAllowed === ALLOWED - 1;
    },
    LIMIT_MS,
  );
  expect((await client.get(podDisruptionBudgetType, key(app))).status?.disruptedPods ?? {}).toEqual({});
});
