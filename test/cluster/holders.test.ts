/**
 * Replicas that stand still, die or forget while they hold a ledger. Two of them stand behind one address, in replace
 * mode, over six gangs of which one may go.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { podDisruptionBudgetType, podType, secretType } from '../../src/api/resource-types.ts';
import { type NodesHost, startNodes } from '../../src/app/index.ts';
import { ApiError, type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { ABANDONED_MS, webhookConfigurations } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { type Balancer, balance, type OperatorProcess, runOperator } from './operator-process.ts';
import * as stage from './stage.ts';

/** Seconds for which a holder stands still. `QUORATE_PAUSES=5,12,20,80` is what the specification asks for. */
const PAUSES = (process.env['QUORATE_PAUSES'] ?? '5').split(',').map(Number);
const GANGS = Array.from({ length: 6 }, (_, at) => `g${at}`);
const key = { namespace: 'default', name: 'training' };
const member = (gang: string, at: number): string => `${gang}-${at}`;
const PODS = GANGS.flatMap((gang) => [member(gang, 0), member(gang, 1)]);

let plane: RealControlPlane;
let nodes: NodesHost;
let client: Client;
let replicas: OperatorProcess[] = [];
let balancer: Balancer;

beforeAll(async () => {
  plane = await stage.startPlane({
    components: ['kube-controller-manager'],
    flags: { 'kube-controller-manager': ['--controllers=*,-disruption-controller'] },
  });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
  await stage.prepareCluster(plane);
  replicas = ['one', 'two'].map((identity) => runOperator(plane.kubeconfig, identity, ['--mode', 'replace']));
  await stage.until('both replicas to be ready', () => replicas.every((one) => one.port() !== undefined), 240_000);
  balancer = await balance(replicas);
  const secret = await client.get(secretType, { namespace: stage.NAMESPACE, name: 'quorate-webhook-tls' });
  const caBundle = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  const options = { namespace: stage.NAMESPACE, failOpen: false, certManager: false };
  await stage.apply(plane, ...webhookConfigurations(options, { url: `https://127.0.0.1:${balancer.port}`, caBundle }));
  await stage.apply(
    plane,
    groups.workload(stage.groupVersion, key.name, 2),
    ...GANGS.map((gang) => groups.podGroup(stage.groupVersion, gang, key.name, 2)),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: key,
      spec: { minAvailable: GANGS.length - 1, selector: { matchLabels: { app: key.name } } },
    },
  );
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await balancer?.close();
  nodes?.stop();
  await plane?.stop();
});

const demand = (minAvailable: number) =>
  client.patch(podDisruptionBudgetType, key, { type: 'merge', body: { spec: { minAvailable } } });

async function evict(name: string): Promise<number> {
  const metadata = { name, namespace: key.namespace };
  try {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    await client.createSubresource(podType, metadata, 'eviction', body);
    return 201;
  } catch (error) {
    return error instanceof ApiError ? error.code : 0;
  }
}

/** Gangs with a pod that is missing or going. */
async function gangsDown(): Promise<string[]> {
  const { items } = await client.list(podType, { namespace: key.namespace });
  const up = new Set(items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name));
  return GANGS.filter((gang) => ![0, 1].every((at) => up.has(member(gang, at))));
}

/** Puts back what is missing, and waits until the ledger counts all gangs and one may go. */
async function mend(): Promise<void> {
  const whole = async (): Promise<boolean> => {
    const { items } = await client.list(podType, { namespace: key.namespace });
    const known = new Set(items.map(({ metadata }) => metadata.name));
    for (const name of PODS) {
      if (known.has(name)) continue;
      await client.create(podType, {
        metadata: { name, namespace: key.namespace, labels: { app: key.name } },
        spec: {
          nodeName: 'node-0',
          terminationGracePeriodSeconds: 1,
          schedulingGroup: { podGroupName: name.split('-')[0] },
          containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
        },
      } as never);
    }
    const { status } = await client.get(disruptionLedgerType, key);
    return status?.currentHealthy === GANGS.length && status.disruptionsAllowed === 1;
  };
  await stage.until('all gangs to be up', whole, 300_000);
}

/** The replica that grants ahead of its writes, once there is one. */
async function holder(): Promise<OperatorProcess | undefined> {
  const { status } = await client.get(disruptionLedgerType, key);
  return replicas.find(({ identity }) => status?.hold?.holder.startsWith(`${identity}/`));
}

/** Evicts one pod after another until somebody holds the ledger. */
async function untilHeld(): Promise<OperatorProcess> {
  let found: OperatorProcess | undefined;
  await stage.until(
    'a replica to hold the ledger',
    async () => {
      await mend();
      await evict(member('g0', 0));
      found = await holder();
      return found !== undefined;
    },
    300_000,
  );
  await mend();
  if (found === undefined) throw new Error('nobody holds the ledger');
  return found;
}

test.each(PAUSES)(
  '18.1 GR-11: a holder that stands still for %i s in the middle of evictions never makes two of one',
  async (seconds) => {
    const held = await untilHeld();
    const first = PODS.map((name) => evict(name));
    held.pause();
    const over = Date.now() + seconds * 1000;
    try {
      while (Date.now() < over) {
        await Promise.all(GANGS.map((gang) => evict(member(gang, 1))));
        expect((await gangsDown()).length).toBeLessThanOrEqual(1);
      }
    } finally {
      held.resume();
    }
    await Promise.all(first);
    await Promise.all(PODS.map((name) => evict(name)));
    expect((await gangsDown()).length).toBeLessThanOrEqual(1);
  },
);

test('18.4 GR-15: a budget tightened while a dead replica holds is held back by the barrier, not judged wrongly', async () => {
  const held = await untilHeld();
  held.crash();
  const before = await gangsDown();
  await demand(GANGS.length);
  const begun = Date.now();
  await stage.until(
    'the barrier to be lifted',
    async () => {
      const codes = await Promise.all(GANGS.map((gang) => evict(member(gang, 0))));
      expect(codes).not.toContain(201);
      const { metadata, status } = await client.get(podDisruptionBudgetType, key);
      return status?.observedGeneration === metadata.generation;
    },
    ABANDONED_MS + 30_000,
  );
  expect(Date.now() - begun).toBeLessThan(ABANDONED_MS + 15_000);
  expect(await gangsDown()).toEqual(before);
  await demand(GANGS.length - 1);
  await mend();
});

test('18.3 GR-17: with all ledgers deleted and all replicas started anew nothing is granted until nothing can be under way', async () => {
  await untilHeld();
  for (const replica of replicas) replica.crash();
  await client.delete(disruptionLedgerType, key);
  const begun = Date.now();
  const grantedAfter: number[] = [];
  await stage.until(
    'evictions to be granted again',
    async () => {
      for (const gang of GANGS) if ((await evict(member(gang, 0))) === 201) grantedAfter.push(Date.now() - begun);
      return grantedAfter.length > 0;
    },
    ABANDONED_MS + 120_000,
  );
  expect(Math.min(...grantedAfter)).toBeGreaterThanOrEqual(ABANDONED_MS);
  await Promise.all(PODS.map((name) => evict(name)));
  expect(await gangsDown()).toHaveLength(1);
});
