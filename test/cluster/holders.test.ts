/**
 * Replicas that stand still, die or forget while they hold a ledger. Two of them stand behind one address, in replace
 * mode. Each test has six gangs of its own of which one may go, so that none waits for what another has left behind.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { podDisruptionBudgetType, podType, secretType } from '../../src/api/resource-types.ts';
import { type NodesHost, startNodes } from '../../src/app/index.ts';
import { ApiError, type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { ABANDONED_MS } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { type Balancer, balance, type OperatorProcess, runOperator } from './operator-process.ts';
import * as stage from './stage.ts';

/** Seconds for which a holder stands still. `QUORATE_PAUSES=5,12,20,80` is what the specification asks for. */
const PAUSES = (process.env['QUORATE_PAUSES'] ?? '5').split(',').map(Number);
const namespace = 'default';

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
  const authority = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  await stage.writeWebhooks(plane, { authority, webhookPort: balancer.port }, 'native', 'replace');
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await balancer?.close();
  nodes?.stop();
  await plane?.stop();
});

async function evict(name: string): Promise<number> {
  const metadata = { name, namespace };
  try {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    await client.createSubresource(podType, metadata, 'eviction', body);
    return 201;
  } catch (error) {
    return error instanceof ApiError ? error.code : 0;
  }
}

/** Six gangs of two pods under one budget, named after it. */
class Gangs {
  readonly key: { readonly namespace: string; readonly name: string };
  readonly names: readonly string[];
  readonly pods: readonly string[];

  constructor(name: string) {
    this.key = { namespace, name };
    this.names = Array.from({ length: 6 }, (_, at) => `${name}-g${at}`);
    this.pods = this.names.flatMap((gang) => [member(gang, 0), member(gang, 1)]);
  }

  async start(): Promise<this> {
    const { name } = this.key;
    await stage.apply(
      plane,
      groups.workload(stage.groupVersion, name, 2),
      ...this.names.map((gang) => groups.podGroup(stage.groupVersion, gang, name, 2)),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: this.key,
        spec: { minAvailable: this.names.length - 1, selector: { matchLabels: { app: name } } },
      },
    );
    return this;
  }

  demand(minAvailable: number): Promise<unknown> {
    return client.patch(podDisruptionBudgetType, this.key, { type: 'merge', body: { spec: { minAvailable } } });
  }

  /** Those with a pod that is missing or going. */
  async down(): Promise<string[]> {
    const up = new Set((await this.#list()).filter(({ metadata }) => !metadata.deletionTimestamp).map(nameOf));
    return this.names.filter((gang) => ![0, 1].every((at) => up.has(member(gang, at))));
  }

  /** Puts back what is missing, and waits until the ledger counts all gangs and one may go. */
  async mend(): Promise<void> {
    const whole = async (): Promise<boolean> => {
      const known = new Set((await this.#list()).map(nameOf));
      for (const name of this.pods) if (!known.has(name)) await this.#create(name);
      const { status } = await client.get(disruptionLedgerType, this.key);
      return status?.currentHealthy === this.names.length && status.disruptionsAllowed === 1;
    };
    await stage.until('all gangs to be up', whole, 300_000);
  }

  /** Evicts one pod after another until a replica grants ahead of its writes. */
  async untilHeld(): Promise<OperatorProcess> {
    let found: OperatorProcess | undefined;
    await stage.until(
      'a replica to hold the ledger',
      async () => {
        await this.mend();
        await evict(member(this.names[0] ?? '', 0));
        const { status } = await client.get(disruptionLedgerType, this.key);
        found = replicas.find(({ identity }) => status?.hold?.holder.startsWith(`${identity}/`));
        return found !== undefined;
      },
      300_000,
    );
    await this.mend();
    if (found === undefined) throw new Error('nobody holds the ledger');
    return found;
  }

  async #list() {
    return (await client.list(podType, { namespace, labelSelector: `app=${this.key.name}` })).items;
  }

  async #create(name: string): Promise<void> {
    await client.create(podType, {
      metadata: { name, namespace, labels: { app: this.key.name } },
      spec: {
        nodeName: 'node-0',
        terminationGracePeriodSeconds: 1,
        schedulingGroup: { podGroupName: name.slice(0, -2) },
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
      },
    } as never);
  }
}

const member = (gang: string, at: number): string => `${gang}-${at}`;
const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? '';

test.each(PAUSES)(
  '18.1 GR-11: a holder that stands still for %i s in the middle of evictions never makes two of one',
  async (seconds) => {
    const gangs = await new Gangs(`pause-${seconds}`).start();
    const held = await gangs.untilHeld();
    const first = gangs.pods.map((name) => evict(name));
    held.pause();
    const over = Date.now() + seconds * 1000;
    try {
      while (Date.now() < over) {
        await Promise.all(gangs.names.map((gang) => evict(member(gang, 1))));
        expect((await gangs.down()).length).toBeLessThanOrEqual(1);
      }
    } finally {
      held.resume();
    }
    await Promise.all(first);
    await Promise.all(gangs.pods.map((name) => evict(name)));
    expect((await gangs.down()).length).toBeLessThanOrEqual(1);
  },
);

test('18.4 GR-15: a budget tightened while a dead replica holds is held back by the barrier, not judged wrongly', async () => {
  const gangs = await new Gangs('tightened').start();
  const held = await gangs.untilHeld();
  held.crash();
  const before = await gangs.down();
  await gangs.demand(gangs.names.length);
  const begun = Date.now();
  await stage.until(
    'the barrier to be lifted',
    async () => {
      const codes = await Promise.all(gangs.names.map((gang) => evict(member(gang, 0))));
      expect(codes).not.toContain(201);
      const { metadata, status } = await client.get(podDisruptionBudgetType, gangs.key);
      return status?.observedGeneration === metadata.generation;
    },
    ABANDONED_MS + 30_000,
  );
  expect(Date.now() - begun).toBeLessThan(ABANDONED_MS + 15_000);
  expect(await gangs.down()).toEqual(before);
});

test('18.3 GR-17: with all ledgers deleted and all replicas started anew nothing is granted until nothing can be under way', async () => {
  const gangs = await new Gangs('forgotten').start();
  await gangs.untilHeld();
  for (const replica of replicas) replica.crash();
  await client.delete(disruptionLedgerType, gangs.key);
  const begun = Date.now();
  const grantedAfter: number[] = [];
  await stage.until(
    'evictions to be granted again',
    async () => {
      for (const gang of gangs.names) if ((await evict(member(gang, 0))) === 201) grantedAfter.push(Date.now() - begun);
      return grantedAfter.length > 0;
    },
    ABANDONED_MS + 120_000,
  );
  expect(Math.min(...grantedAfter)).toBeGreaterThanOrEqual(ABANDONED_MS);
  await Promise.all(gangs.pods.map((name) => evict(name)));
  expect(await gangs.down()).toHaveLength(1);
});
