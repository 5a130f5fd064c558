/**
 * A ReplicaSet goes from 0 to 5,000 pods and back to 0, on disk, once with our controller on our server and, where the
 * real binaries are, once with kube-controller-manager on kube-apiserver and etcd.
 *
 * Neither side does anything else: of the controllers only the one for ReplicaSets runs (there also the one for service
 * accounts, without which no pod can be made). The limits that the real ones have by default are out of the way: those
 * of the controller manager's client (20 requests a second) and of requests in flight. Both have scaled a smaller
 * ReplicaSet before, as neither is measured for how it starts. Beside the time stands the processor time of each side,
 * which other work on the machine blurs less, and how many cores it got.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namespaceType, podType, replicaSetType, serviceAccountType } from '../src/api/resource-types.ts';
import { inProcessTransport, systemAdmin } from '../src/apiserver/index.ts';
import { createPlane } from '../src/app/plane.ts';
import { runComponents } from '../src/app/run-components.ts';
import { createReplicaSetController } from '../src/controllers/kubernetes/replicaset/index.ts';
import { type Client, silentLogger, systemClock } from '../src/machinery/runtime/index.ts';
import { openLmdbStore } from '../src/storage/index.ts';
import { replicaSet } from '../src/testkit/objects.ts';
import { startRealControlPlane } from '../test/kubernetes/control-plane.ts';
import { createNetworkClient } from '../test/kubernetes/network-client.ts';
import { cpuSecondsOf, meter, ownCpuSeconds, type Spent } from './processor-time.ts';
import { report } from './report.ts';

const PODS = Number(process.env['BENCH_PODS'] ?? 5_000);
const WARM_UP_PODS = Number(process.env['BENCH_WARM_UP_PODS'] ?? 1_000);
const NAMESPACE = 'bench';

export async function benchScaleReplicas(): Promise<void> {
  const ours = await embedded();
  report(`downscale: ReplicaSet 0 → ${PODS} pods`, describe(ours.up));
  report(`downscale: ReplicaSet ${PODS} → 0 pods`, describe(ours.down));
  const theirs = await real();
  if (theirs === undefined) return;
  report(`  the same with Kubernetes: 0 → ${PODS}`, describe(theirs.up));
  report(`  the same with Kubernetes: ${PODS} → 0`, describe(theirs.down));
  const ratio = (theirs.up.seconds + theirs.down.seconds) / (ours.up.seconds + ours.down.seconds);
  const cpuRatio = (theirs.up.cpuSeconds + theirs.down.cpuSeconds) / (ours.up.cpuSeconds + ours.down.cpuSeconds);
  report('  ratio', `${ratio.toFixed(1)} times`, { target: 'at least 5 times faster', met: ratio >= 5 });
  report('  ratio of processor time', `${cpuRatio.toFixed(1)} times`);
}

/** Processor time is that of the control plane; of ours with the client in it. */
interface Costs {
  readonly up: Spent;
  readonly down: Spent;
}

const describe = ({ cpuSeconds, seconds, share }: Spent): string =>
  `${seconds.toFixed(1)} s on ${share.toFixed(1)} cores, ${((cpuSeconds * 1000) / PODS).toFixed(2)} ms of processor time a pod`;

async function embedded(): Promise<Costs> {
  const directory = mkdtempSync(join(tmpdir(), 'quorate-bench-'));
  const store = await openLmdbStore({ directory });
  const plane = createPlane({ store, clock: systemClock, log: silentLogger });
  const transport = inProcessTransport(plane.handle, systemAdmin);
  const host = { transportFor: () => transport, clock: systemClock, log: silentLogger };
  const components = runComponents(host, [createReplicaSetController()]);
  try {
    await components.client.create(namespaceType, { metadata: { name: NAMESPACE } });
    return await measure(components.client, ownCpuSeconds);
  } finally {
    components.stop();
    plane.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

async function real(): Promise<Costs | undefined> {
  const controllers = '--controllers=replicaset-controller,serviceaccount-controller';
  const plane = await startRealControlPlane({
    components: ['kube-controller-manager'],
    flags: {
      'kube-apiserver': ['--max-requests-inflight=4000', '--max-mutating-requests-inflight=2000'],
      'kube-controller-manager': [controllers, '--kube-api-qps=100000', '--kube-api-burst=100000'],
    },
  }).catch((error: unknown) => {
    report('  the same with Kubernetes', `not measured: ${String(error)}`);
    return undefined;
  });
  if (plane === undefined) return undefined;
  try {
    const pids = childrenOf(process.pid);
    const client = createNetworkClient(plane, 'quorate-bench');
    await client.create(namespaceType, { metadata: { name: NAMESPACE } });
    await until(() => client.get(serviceAccountType, { namespace: NAMESPACE, name: 'default' }).then(() => true));
    return await measure(client, () => cpuSecondsOf(pids));
  } finally {
    await plane.stop();
  }
}

async function measure(client: Client, cpuSeconds: () => number): Promise<Costs> {
  await scale(client, { name: 'warm-up', size: WARM_UP_PODS, cpuSeconds });
  return scale(client, { name: 'web', size: PODS, cpuSeconds });
}

interface Run {
  readonly name: string;
  readonly size: number;
  readonly cpuSeconds: () => number;
}

async function scale(client: Client, { cpuSeconds, name, size }: Run): Promise<Costs> {
  const key = { namespace: NAMESPACE, name };
  const pods = async (): Promise<number> => {
    const { items, metadata } = await client.list(podType, { namespace: NAMESPACE, limit: 1 });
    return items.length + (metadata.remainingItemCount ?? 0);
  };
  const scaleTo = async (replicas: number): Promise<Spent> => {
    const spent = meter(cpuSeconds);
    const body = { spec: { replicas } };
    await client.patch(replicaSetType, key, { type: 'merge', body }, { subresource: 'scale' });
    await until(async () => {
      const { status } = await client.get(replicaSetType, key);
      return (status?.replicas ?? 0) === replicas && (await pods()) === replicas;
    });
    return spent();
  };
  await client.create(replicaSetType, replicaSet({ ...key, replicas: 0 }));
  return { up: await scaleTo(size), down: await scaleTo(0) };
}

/** The components of the real plane are processes of this one. */
function childrenOf(parent: number): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50));
}
