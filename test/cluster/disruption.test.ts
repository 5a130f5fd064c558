/** Our disruption controller in place of the built-in one, under the real API server's own evictions; and the commands. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import {
  nodeType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  serviceAccountType,
} from '../../src/api/resource-types.ts';
import { drainNodes } from '../../src/tasks/index.ts';
import { runComponents } from '../../src/app/run-components.ts';
import { explainTarget } from '../../src/tasks/index.ts';
import { createDisruptionController } from '../../src/controllers/quorate/disruption/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  isAlreadyExists,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { replicaSet } from '../../src/testkit/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';

let plane: RealControlPlane;
let client: Client;
let stop = (): void => {};
const namespace = 'default';

beforeAll(async () => {
  plane = await startRealControlPlane({ components: [] });
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  client = createClient({ transport: transport.send, userAgent: 'quorate-test' });
  const host = { transportFor: () => transport.send, clock: systemClock, log: silentLogger };
  const components = runComponents(host, [createDisruptionController()]);
  stop = () => {
    components.stop();
    transport.close();
  };
  await client.create(serviceAccountType, { metadata: { name: 'default', namespace } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.create(nodeType, { metadata: { name: 'node-1' } });
});

afterAll(async () => {
  stop();
  await plane?.stop();
});

async function pod(name: string, more: Partial<Pod['metadata']> = {}): Promise<void> {
  const created = await client.create(podType, {
    metadata: { name, namespace, labels: { app: 'a' }, ...more },
    spec: { containers: [{ name: 'main', image: 'x' }], nodeName: 'node-1', automountServiceAccountToken: false },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await client.updateStatus(podType, { ...created, status: { ...created.status, phase: 'Running', conditions } });
}

async function untilNumbers(want: readonly number[]): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const { status = {} } = await client.get(podDisruptionBudgetType, { namespace, name: 'foo' });
    const got = [status.disruptionsAllowed, status.currentHealthy, status.desiredHealthy, status.expectedPods];
    if (got.every((value, at) => value === want[at])) return;
    if (attempt > 1000) throw new Error(`the budget says ${got.join(', ')} and not ${want.join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const evict = (name: string) =>
  client.createSubresource(podType, { namespace, name }, 'eviction', {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: { gracePeriodSeconds: 0 },
  });

test('the real eviction handler decides on what our controller publishes', async () => {
  const set = await client.create(replicaSetType, replicaSet({ name: 'rs', replicas: 3 }));
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'rs',
    uid: set.metadata.uid ?? '',
    controller: true,
  };
  for (const name of ['p0', 'p1', 'p2']) await pod(name, { ownerReferences: [owner] });
  await client.create(podDisruptionBudgetType, {
    metadata: { name: 'foo', namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
  });
  await untilNumbers([1, 3, 2, 3]);
  await evict('p0');
  await expect(evict('p1')).rejects.toMatchObject({ code: 429 });
  await untilNumbers([0, 2, 2, 3]);
});

test('why and drain work on a real API server', async () => {
  const { lines, granted } = await explainTarget(client, { target: 'pod/p1', namespace, now: Date.now() });
  expect(granted).toBe(false);
  expect(lines[1]).toBe(
    'Budget foo (maxUnavailable 1) counts pods: 2 of 3 expected healthy, 2 needed, 0 may be disrupted.',
  );
  const rules = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 };
  const report = { step: () => {}, progress: () => {} };
  const options = {
    nodes: ['node-1'],
    allOrNothing: true,
    dryRun: false,
    timeoutMs: 120_000,
    gracePeriodSeconds: 0,
    rules,
  };
  const refused = await drainNodes({ client, clock: systemClock, report }, options);
  expect(refused.outcome).toBe('Refused');
  expect((await client.get(nodeType, { name: 'node-1' })).spec?.unschedulable).toBeUndefined();
  await client.delete(podDisruptionBudgetType, { namespace, name: 'foo' });
  const drained = await drainNodes({ client, clock: systemClock, report }, options);
  expect(drained.outcome).toBe('Drained');
});
