/**
 * A ReplicaSet goes from 0 to 5,000 pods and back to 0, on disk, once with our controller on our server and, where the
 * real binaries are, once with kube-controller-manager on kube-apiserver and etcd, its client limits out of the way.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namespaceType, podType, replicaSetType, serviceAccountType } from '../src/api/resource-types.ts';
import { inProcessTransport, systemAdmin } from '../src/apiserver/index.ts';
import { createPlane } from '../src/app/plane.ts';
import { runComponents } from '../src/app/run-components.ts';
import { createReplicaSetController } from '../src/controllers/replicaset/index.ts';
import { type Client, silentLogger, systemClock } from '../src/machinery/runtime/index.ts';
import { openLmdbStore } from '../src/storage/index.ts';
import { replicaSet } from '../src/testkit/objects.ts';
import { startRealControlPlane } from '../test/kubernetes/control-plane.ts';
import { createNetworkClient } from '../test/kubernetes/network-client.ts';
import { report } from './report.ts';

const PODS = Number(process.env['BENCH_PODS'] ?? 5_000);
const NAMESPACE = 'bench';

export async function benchScaleReplicas(): Promise<void> {
  const ours = await embedded();
  report(`downscale: ReplicaSet 0 → ${PODS} pods`, `${ours.up.toFixed(1)} s`);
  report(`downscale: ReplicaSet ${PODS} → 0 pods`, `${ours.down.toFixed(1)} s`);
  const theirs = await real();
  if (theirs === undefined) return;
  const ratio = (theirs.up + theirs.down) / (ours.up + ours.down);
  report(`  the same with Kubernetes`, `${theirs.up.toFixed(1)} s and ${theirs.down.toFixed(1)} s`);
  report('  ratio', `${ratio.toFixed(1)} times`, { target: 'at least 5 times faster', met: ratio >= 5 });
}

interface Seconds {
  readonly up: number;
  readonly down: number;
}

async function embedded(): Promise<Seconds> {
  const directory = mkdtempSync(join(tmpdir(), 'quorate-bench-'));
  const store = await openLmdbStore({ directory });
  const plane = createPlane({ store, clock: systemClock, log: silentLogger });
  const transport = inProcessTransport(plane.handle, systemAdmin);
  const host = { transportFor: () => transport, clock: systemClock, log: silentLogger };
  const components = runComponents(host, [createReplicaSetController()]);
  try {
    await components.client.create(namespaceType, { metadata: { name: NAMESPACE } });
    return await measure(components.client);
  } finally {
    components.stop();
    plane.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

async function real(): Promise<Seconds | undefined> {
  const limits = ['--kube-api-qps=100000', '--kube-api-burst=100000'];
  const plane = await startRealControlPlane({
    components: ['kube-controller-manager'],
    flags: { 'kube-controller-manager': limits },
  }).catch((error: unknown) => {
    report('  the same with Kubernetes', `not measured: ${String(error)}`);
    return undefined;
  });
  if (plane === undefined) return undefined;
  try {
    const client = createNetworkClient(plane, 'quorate-bench');
    await client.create(namespaceType, { metadata: { name: NAMESPACE } });
    await until(() => client.get(serviceAccountType, { namespace: NAMESPACE, name: 'default' }).then(() => true));
    return await measure(client);
  } finally {
    await plane.stop();
  }
}

async function measure(client: Client): Promise<Seconds> {
  const key = { namespace: NAMESPACE, name: 'web' };
  const pods = async (): Promise<number> => {
    const { items, metadata } = await client.list(podType, { namespace: NAMESPACE, limit: 1 });
    return items.length + (metadata.remainingItemCount ?? 0);
  };
  const scaleTo = async (replicas: number): Promise<number> => {
    const started = performance.now();
    const body = { spec: { replicas } };
    await client.patch(replicaSetType, key, { type: 'merge', body }, { subresource: 'scale' });
    await until(async () => {
      const { status } = await client.get(replicaSetType, key);
      return (status?.replicas ?? 0) === replicas && (await pods()) === replicas;
    });
    return (performance.now() - started) / 1000;
  };
  await client.create(replicaSetType, replicaSet({ ...key, replicas: 0 }));
  return { up: await scaleTo(PODS), down: await scaleTo(0) };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50));
}
