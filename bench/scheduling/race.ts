/** The same gangs on the same nodes, on Quorate and on Kubernetes. */
import { namespaceType, nodeType, podType } from '../../src/api/resource-types.ts';
import { podGroupType } from '../../src/api/scheduling/index.ts';
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import type { Host } from './hosts.ts';

export interface RaceOptions {
  readonly nodes: number;
  readonly gangs: number;
  readonly size: number;
}

export interface Lap {
  readonly host: string;
  readonly pods: number;
  /** From the first group that may be scheduled to the last pod bound. */
  readonly seconds: number;
  readonly podsPerSecond: number;
  /** Processor time the host used for it. */
  readonly cpuSeconds: number;
}

const PARALLEL = 32;
const NAMESPACE = 'bench';

/** All pods wait for their PodGroups, which then come at once: what is measured is scheduling and binding. */
export async function runLap(host: Host, options: RaceOptions): Promise<Lap> {
  const transport = createHttpTransport(loadKubeconfig({ path: host.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'quorate-bench' });
  try {
    await prepare(client, options);
    const pods = options.gangs * options.size;
    const finished = watchBindings(client, pods);
    const cpu = host.cpuSeconds();
    const start = performance.now();
    await inParallel(options.gangs, async (index) => {
      const spec = { schedulingPolicy: { gang: { minCount: options.size } } };
      const metadata = { name: `gang-${index}`, namespace: NAMESPACE };
      await client.create(podGroupType('v1alpha2'), { metadata, spec } as never);
    });
    await finished;
    const seconds = (performance.now() - start) / 1000;
    return {
      host: host.name,
      pods,
      seconds,
      podsPerSecond: Math.round(pods / seconds),
      cpuSeconds: host.cpuSeconds() - cpu,
    };
  } finally {
    transport.close();
    await host.stop();
  }
}

async function prepare(client: Client, { gangs, nodes, size }: RaceOptions): Promise<void> {
  const allocatable = { cpu: '32', memory: '256Gi', pods: '110', 'nvidia.com/gpu': '8' };
  await inParallel(nodes, async (index) => {
    const name = `node-${index}`;
    const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 10}` };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { capacity: allocatable, allocatable, conditions };
    await client.create(nodeType, { metadata: { name, labels }, status });
    await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints: null } } });
  });
  await client.create(namespaceType, { metadata: { name: NAMESPACE } });
  // The service account of a new namespace takes a moment.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const requests = { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' };
  await inParallel(gangs * size, async (index) => {
    const group = `gang-${Math.floor(index / size)}`;
    await client.create(podType, {
      metadata: { name: `${group}-${index % size}`, namespace: NAMESPACE },
      spec: {
        schedulingGroup: { podGroupName: group },
        containers: [{ name: 'main', image: 'main', resources: { requests, limits: requests } }],
      },
    });
  });
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

async function watchBindings(client: Client, wanted: number): Promise<void> {
  const { metadata } = await client.list(podType, { namespace: NAMESPACE, limit: 1 });
  const abort = new AbortController();
  const bound = new Set<string>();
  const from = { namespace: NAMESPACE, resourceVersion: metadata.resourceVersion, signal: abort.signal };
  for await (const { object } of client.watch(podType, from)) {
    if (object.spec?.nodeName) bound.add(object.metadata.name ?? '');
    if (bound.size === wanted) break;
  }
  abort.abort();
}
