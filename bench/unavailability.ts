/**
 * PodUnavailableBudgets over shards: one admission decision at Kubernetes' supported size, and evictions over the network
 * that each of them is charged for.
 */
import type { Pod } from '../src/api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../src/api/kruise/types.ts';
import { namespaceType, nodeType, podType, serviceAccountType } from '../src/api/resource-types.ts';
import { BudgetIndex, judgeUnavailability } from '../src/decisions/unavailability/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  isAlreadyExists,
  loadKubeconfig,
} from '../src/machinery/runtime/index.ts';
import { startEmbedded } from '../test/conformance/embedded.ts';
import { childCpuMs, eachOf } from './evictions.ts';
import { median, report } from './report.ts';

const PODS = 150_000;
const BUDGETS = 1_000;
const SHARD = 8;
const NOW = Date.parse('2026-06-01T12:00:00Z');
const CALLS = 1_000;
const GATES = { deletes: true, updates: true, verticalScaling: false };

export async function benchUnavailability(): Promise<void> {
  benchDecision();
  await benchThroughput();
}

function benchDecision(): void {
  const index = new BudgetIndex();
  for (let set = 0; set < BUDGETS; set += 1) {
    index.setBudget({
      metadata: { name: `b-${set}`, namespace: 'bench', generation: 1 },
      spec: {
        selector: { matchLabels: { set: `s-${set}` } },
        maxUnavailable: 1,
        podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: SHARD },
      },
      status: {
        observedGeneration: 1,
        totalReplicas: 18,
        desiredAvailable: 17,
        currentAvailable: 18,
        unavailableAllowed: 1,
      },
    });
  }
  for (let at = 0; at < PODS; at += 1) index.setPod({ pod: makePod(at), targets: [] });
  const decide = (at: number): void => {
    const name = `p-${at}`;
    const pod = index.pod(name) as Pod;
    const covering = index.covering(name);
    const question = { operation: 'EVICT', pod, covering, gates: GATES, scaleOf: () => undefined, nowMs: NOW } as const;
    if (!judgeUnavailability(question).allowed) throw new Error('the eviction should be granted');
  };
  const rounds: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    const started = performance.now();
    const used = process.cpuUsage();
    for (let at = 0; at < CALLS; at += 1) decide((at * 7919 + round) % PODS);
    const { system, user } = process.cpuUsage(used);
    cpu.push((system + user) / CALLS);
    rounds.push(((performance.now() - started) * 1000) / CALLS);
  }
  const micros = median(rounds.slice(10));
  const goal = { target: 'under 20 µs', met: micros < 20 };
  report(`unavailability: one decision, ${PODS} pods, ${BUDGETS} budgets`, `${micros.toFixed(1)} µs`, goal);
  report('  processor time of each', `${median(cpu.slice(10)).toFixed(1)} µs`);
}

function makePod(at: number): Pod {
  const set = at % BUDGETS;
  return {
    metadata: {
      name: `p-${at}`,
      namespace: 'bench',
      uid: `u-${at}`,
      labels: { set: `s-${set}`, shard: `${set}-${Math.floor(at / BUDGETS / SHARD)}`, tier: 'x' },
      creationTimestamp: '2026-06-01T00:00:00Z',
    },
    spec: { containers: [], nodeName: `n-${at % 5000}` },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** Each budget guards shards of eight and lets all of them go, one charge per shard and a record per pod. */
const THROUGHPUT = { budgets: 50, shards: 10 };

async function benchThroughput(): Promise<void> {
  const host = await startEmbedded({ nodes: 0 }).catch((error: unknown) => {
    report('unavailability: evictions', `not measured: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (host === undefined) return;
  const transport = createHttpTransport(loadKubeconfig({ path: host.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'bench' });
  const namespace = 'bench-pub';
  try {
    const names = await setUp(client, namespace);
    const before = childCpuMs();
    const started = performance.now();
    await eachOf(names, async (name) => {
      await client.createSubresource(podType, { namespace, name }, 'eviction', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: { gracePeriodSeconds: 0 },
      });
    });
    const rate = (names.length * 1000) / (performance.now() - started);
    const cpuMs = (childCpuMs() - before) / names.length;
    const what = `unavailability: ${names.length} evictions, ${THROUGHPUT.budgets} budgets`;
    report(what, `${rate.toFixed(0)}/s`, { target: 'at least 1,000/s on two cores', met: rate >= 1000 });
    report('  processor time of each', `${cpuMs.toFixed(2)} ms`);
  } finally {
    transport.close();
    await host.stop();
  }
}

async function setUp(client: Client, namespace: string): Promise<string[]> {
  const ensure = async (made: Promise<unknown>): Promise<void> => {
    await made.catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  };
  await ensure(client.create(nodeType, { metadata: { name: 'bench-node' } }));
  await ensure(client.create(namespaceType, { metadata: { name: namespace } }));
  await ensure(client.create(serviceAccountType, { metadata: { name: 'default', namespace } }));
  const { budgets, shards } = THROUGHPUT;
  for (let set = 0; set < budgets; set += 1) {
    await client.create(POD_UNAVAILABLE_BUDGETS, {
      metadata: { name: `b-${set}`, namespace },
      spec: {
        selector: { matchLabels: { set: `s-${set}` } },
        // More than there are, so that something is still desired when the last shard goes.
        minAvailable: 1,
        maxUnavailable: shards,
        protectTotalReplicas: shards + 1,
        podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: SHARD },
      },
    });
  }
  const names: string[] = [];
  for (let shard = 0; shard <= shards; shard += 1) {
    for (let at = 0; at < SHARD; at += 1)
      for (let set = 0; set < budgets; set += 1) names.push(`p-${set}-${shard}-${at}`);
  }
  await eachOf(names, async (name) => {
    const [, set, shard] = name.split('-');
    const labels = { set: `s-${set}`, shard: `${shard}` };
    const made = await client.create(podType, {
      metadata: { name, namespace, labels },
      spec: { containers: [{ name: 'main', image: 'x' }], nodeName: 'bench-node', automountServiceAccountToken: false },
    });
    const { resourceVersion: _any, ...metadata } = made.metadata;
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.updateStatus(podType, { metadata, spec: made.spec, status });
  });
  for (let set = 0; set < budgets; set += 1) {
    for (;;) {
      const { status } = await client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: `b-${set}` });
      if (status?.unavailableAllowed === shards) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  // One shard of each budget stays.
  return names.filter((name) => name.split('-')[2] !== String(shards));
}
