/** `metrics.k8s.io`: what the pods of a node are seen to use together. */
import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatTime, parseMillis, parseUnits } from '../../../machinery/values/index.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Resource } from '../../registry/resource.ts';
import { measuredMetadata, type Usage, usageOf, usageTable, WINDOW } from './pod-metrics.ts';

interface Load {
  millis: number;
  bytes: number;
}

/** A view of stored nodes. The sums over pods are made once per revision that somebody asks about. */
export function nodeMetrics(
  context: ServerContext,
  prefixes: { readonly nodes: string; readonly pods: string },
): Resource {
  let counted: { readonly revision: number; readonly loads: ReadonlyMap<string, Load> } | undefined;
  const loadOf = (node: string): Load => {
    const { revision } = context.store;
    if (counted?.revision !== revision) {
      const pods = context.store
        .range(prefixes.pods)
        .map((entry) => context.objects.readWithoutManagedFields(entry) as Pod);
      counted = { revision, loads: sumByNode(pods) };
    }
    return counted.loads.get(node) ?? { millis: 0, bytes: 0 };
  };
  return {
    group: 'metrics.k8s.io',
    kind: 'NodeMetrics',
    listKind: 'NodeMetricsList',
    plural: 'nodes',
    singular: '',
    shortNames: [],
    categories: [],
    namespaced: false,
    verbs: ['get', 'list'],
    versions: [
      { name: 'v1beta1', fromStored: (node) => metricsOf(node, loadOf(node.metadata.name ?? ''), context.clock.now()) },
    ],
    stored: { group: '', version: 'v1' },
    prefix: prefixes.nodes,
    strategy: {
      table: usageTable('Use of all its pods', ({ usage }) => usage as Usage),
    },
    subresources: new Map(),
    custom: true,
  };
}

function sumByNode(pods: readonly Pod[]): Map<string, Load> {
  const loads = new Map<string, Load>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName;
    const usage = usageOf(pod);
    if (!node || usage === undefined) continue;
    const load = loads.get(node) ?? { millis: 0, bytes: 0 };
    const containers = pod.spec?.containers.length ?? 0;
    load.millis += containers * amount(usage['cpu'], parseMillis);
    load.bytes += containers * amount(usage['memory'], parseUnits);
    loads.set(node, load);
  }
  return loads;
}

/** Annotations are written by hand; what cannot be read counts for nothing. */
function amount(quantity: string | undefined, parse: (text: string) => number): number {
  if (quantity === undefined) return 0;
  try {
    return parse(quantity);
  } catch {
    return 0;
  }
}

function metricsOf({ metadata }: ApiObject, { bytes, millis }: Load, now: number): ApiObject {
  return {
    metadata: measuredMetadata(metadata),
    timestamp: formatTime(now),
    window: WINDOW,
    usage: { cpu: `${millis}m`, memory: `${Math.ceil(bytes / 1024)}Ki` },
  };
}
