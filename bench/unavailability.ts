/**
 * PodUnavailableBudgets over shards: one admission decision at Kubernetes' supported size, and evictions over the network
 * that each of them is charged for.
 */
import type { Pod } from '../src/api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../src/api/kruise/types.ts';
import { BudgetIndex, judgeUnavailability } from '../src/decisions/unavailability/index.ts';
import { startEmbedded } from '../test/conformance/embedded.ts';
import { connectTo, type HostConnection } from './evictions/connection.ts';
import { type Evicted, evictAll, type FleetPod, makeNamespace, makeReadyPods, until } from './evictions/fleet.ts';
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
const THROUGHPUT = { budgets: 50, shards: 10, warmUp: 2, measured: 3 };

async function benchThroughput(): Promise<void> {
  const plane = await startEmbedded({ nodes: 0 }).catch((error: unknown) => {
    report('unavailability: evictions', `not measured: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (plane === undefined) return;
  const host = await connectTo(plane.kubeconfig);
  const { budgets, measured, warmUp } = THROUGHPUT;
  try {
    const rounds: Evicted[] = [];
    for (let round = 0; round < warmUp + measured; round += 1) {
      const namespace = `bench-pub-${round}`;
      rounds.push(await evictAll(host.send, namespace, await makeGuardedFleet(host, namespace)));
    }
    const later = rounds.slice(warmUp);
    const perSecond = median(later.map((round) => round.perSecond));
    const goal = { target: 'at least 1,000/s on two cores', met: perSecond >= 1000 };
    report(`unavailability: evictions, ${budgets} budgets`, `${perSecond.toFixed(0)}/s sustained`, goal);
    report('  processor time of each', `${median(later.map(({ cpuMs }) => cpuMs)).toFixed(2)} ms`);
    const [first] = rounds;
    const cold = `${first?.perSecond.toFixed(0)}/s, ${first?.cpuMs.toFixed(2)} ms CPU each`;
    report(`  after ${warmUp} rounds of warm-up, the first of them`, cold);
  } finally {
    host.close();
    await plane.stop();
  }
}

/** Returns the pods that may go; one shard of each budget stays. */
export async function makeGuardedFleet({ client, send }: HostConnection, namespace: string): Promise<string[]> {
  await makeNamespace(client, namespace);
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
  const fleet: FleetPod[] = [];
  const going: string[] = [];
  for (let shard = 0; shard <= shards; shard += 1) {
    for (let at = 0; at < SHARD; at += 1) {
      for (let set = 0; set < budgets; set += 1) {
        const name = `p-${set}-${shard}-${at}`;
        fleet.push({ name, labels: { set: `s-${set}`, shard: `${shard}` } });
        if (shard < shards) going.push(name);
      }
    }
  }
  await makeReadyPods(send, namespace, fleet);
  for (let set = 0; set < budgets; set += 1) {
    await until(async () => {
      const { status } = await client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: `b-${set}` });
      return status?.unavailableAllowed === shards;
    });
  }
  return going;
}
