/** One gang of four on four nodes, whose members may only be disrupted together, and a drain of one of its nodes. */
import type { PodDisruptionBudgetSpec } from '../../src/api/generated/policy-v1.ts';
import { type KubeObject, splitApiVersion } from '../../src/api/resource.ts';
import { builtinType } from '../../src/api/registry.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { servedPodGroup } from '../../src/api/scheduling/index.ts';
import { START_DELAY } from '../../src/nodes/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import { until } from '../scenarios/stories/host.ts';
import type { DrainHost } from './host.ts';
import { GangWatch } from './oracle.ts';

export const SIZE = 4;
/** Those that the gang stands on, and one to spare. */
export const NODES_PER_GANG = SIZE + 1;

/** What a seed makes of it. */
export interface DrawnDrain {
  readonly minCount: number;
  readonly startSeconds: number;
  readonly graceSeconds: number;
  readonly budget: PodDisruptionBudgetSpec | undefined;
  /** The budget lets nothing go at first, and is relaxed after so long. */
  readonly relaxedAfterMs: number | undefined;
  /** Another member is evicted at the same time. */
  readonly alsoEvicted: boolean;
  /** Which of the gang's nodes is drained. */
  readonly node: number;
}

export function drawDrain(seed: number): DrawnDrain {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const budgets: (PodDisruptionBudgetSpec | undefined)[] = [undefined, { maxUnavailable: 1 }, { minAvailable: 0 }];
  const isHeld = random() < 0.2;
  return {
    minCount: 2 + below(3),
    startSeconds: below(3),
    graceSeconds: below(3),
    budget: isHeld ? { maxUnavailable: 0 } : budgets[below(3)],
    relaxedAfterMs: isHeld ? 500 + below(5000) : undefined,
    alsoEvicted: random() < 0.3,
    node: below(SIZE),
  };
}

/** Undefined: as it must be. Otherwise what was wrong. */
export async function drainOne(host: DrainHost, seed: number, nodes: readonly string[]): Promise<string | undefined> {
  const drawn = drawDrain(seed);
  const name = `gang-${seed}`;
  const watch = new GangWatch({ size: SIZE, inTransactions: host.inTransactions });
  const spare = nodes.at(-1) ?? '';
  try {
    await host.kubectl('cordon', spare);
    for (const object of objectsOf(host, { name, nodes, drawn })) await make(host, object);
    await watch.follow(host.client, name);
    await until(`${name} to be whole`, () => watch.result().whole === SIZE, 240_000);
    await until(`the budget of ${name}`, async () => drawn.budget === undefined || isCounted(host, name));
    await host.kubectl('uncordon', spare);
    // Or the eviction of the other member is faster, and the group comes back to the node that is drained then.
    await host.kubectl('cordon', nodes[drawn.node] ?? '');
    const also = drawn.alsoEvicted ? evictAnother(host, name, nodes[drawn.node] ?? '') : undefined;
    const relaxed = drawn.relaxedAfterMs === undefined ? undefined : relax(host, name, drawn.relaxedAfterMs);
    const drain = ['--ignore-daemonsets', `--pod-selector=app=${name}`, '--timeout=120s'];
    const { code, output } = await host.kubectl('drain', nodes[drawn.node] ?? '', ...drain);
    await Promise.all([also, relaxed]);
    if (code !== 0) return `kubectl drain ended with ${code}: ${output.slice(-600)}`;
    await until(`${name} to be whole again`, () => watch.result().whole === SIZE, 240_000);
    const { times, violations } = watch.result();
    if (violations.length > 0) return violations.join('; ');
    return times === 1 ? undefined : `the group went ${times} times`;
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  } finally {
    watch.stop();
    await host.kubectl('delete', 'replicaset,podgroup,pdb', '-l', `app=${name}`, '--wait=false');
    await host.kubectl('delete', 'pods', '-l', `app=${name}`, '--grace-period=0', '--force');
    await host.kubectl('uncordon', ...nodes);
  }
}

function objectsOf(
  { version }: DrainHost,
  { drawn, name, nodes }: { name: string; nodes: readonly string[]; drawn: DrawnDrain },
): KubeObject[] {
  const labels = { app: name };
  const metadata = { name, namespace: 'default', labels };
  const group = {
    metadata,
    spec: { schedulingPolicy: { gang: { minCount: drawn.minCount } }, disruptionMode: { all: {} } },
  };
  const apart = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } };
  const own = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: nodes }] };
  const template = {
    metadata: { labels, annotations: { [START_DELAY]: `${drawn.startSeconds}s` } },
    spec: {
      terminationGracePeriodSeconds: drawn.graceSeconds,
      schedulingGroup: { podGroupName: name },
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [own] } },
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] },
      },
      containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
    },
  };
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { selector: { matchLabels: labels }, ...drawn.budget },
  };
  return [
    { ...servedPodGroup(group, version), kind: 'PodGroup' } as KubeObject,
    ...(drawn.budget === undefined ? [] : [budget as KubeObject]),
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata,
      spec: { replicas: SIZE, selector: { matchLabels: labels }, template },
    } as KubeObject,
  ];
}

async function make({ client }: DrainHost, object: KubeObject): Promise<void> {
  const { group, version } = splitApiVersion(object.apiVersion ?? '');
  await client.create(builtinType(object.kind ?? '', group, version), object);
}

async function isCounted({ client }: DrainHost, name: string): Promise<boolean> {
  const { metadata, status } = await client.get(podDisruptionBudgetType, { namespace: 'default', name });
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status?.expectedPods ?? 0) > 0;
}

async function evictAnother({ client }: DrainHost, name: string, drained: string): Promise<void> {
  const { items } = await client.list(podType, { namespace: 'default', labelSelector: `app=${name}` });
  const other = items.find(({ spec }) => spec?.nodeName !== drained)?.metadata.name ?? '';
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: other, namespace: 'default' } };
  // Granted, refused for now, or gone already: the drain is what is looked at.
  await client
    .createSubresource(podType, { namespace: 'default', name: other }, 'eviction', body)
    .catch(() => undefined);
}

async function relax({ client }: DrainHost, name: string, afterMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  const body = { spec: { maxUnavailable: 1 } };
  await client.patch(podDisruptionBudgetType, { namespace: 'default', name }, { type: 'merge', body });
}
