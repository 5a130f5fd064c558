/** `metrics.k8s.io`: what pods are seen to use, read off the annotations that steer simulated nodes. */
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { ApiObject, ObjectMeta } from '../../exchange/object.ts';
import { nameColumn, table, text } from '../../registry/columns.ts';
import type { TableLayout } from '../../registry/strategy.ts';
import type { Resource } from '../../registry/resource.ts';

/** On a Pod: what each of its containers uses, as quantities. */
const CPU_ANNOTATION = 'nodes.quorate.dev/cpu';
const MEMORY_ANNOTATION = 'nodes.quorate.dev/memory';
export const WINDOW = '15s';

/** A view of stored pods. One that does not run, or whose use nobody set, has no containers in it. */
export function podMetrics(clock: Clock, podPrefix: string): Resource {
  return {
    group: 'metrics.k8s.io',
    kind: 'PodMetrics',
    listKind: 'PodMetricsList',
    plural: 'pods',
    singular: '',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: ['get', 'list'],
    versions: [{ name: 'v1beta1', fromStored: (pod) => metricsOf(pod as Pod, clock.now()) }],
    stored: { group: '', version: 'v1' },
    prefix: podPrefix,
    strategy: {
      table: usageTable('Use of each container', ({ containers }) => (containers as { usage: Usage }[])?.[0]?.usage),
    },
    subresources: new Map(),
    custom: true,
  };
}

export type Usage = Readonly<Record<string, string>>;

export const usageTable = (description: string, read: (object: ApiObject) => Usage | undefined): TableLayout =>
  table<ApiObject>([
    nameColumn,
    text('CPU', description, (object) => read(object)?.['cpu'] ?? ''),
    text('Memory', description, (object) => read(object)?.['memory'] ?? ''),
  ]);

/** What measurements tell of the object they are of. */
export function measuredMetadata({
  creationTimestamp,
  labels,
  name,
  namespace,
  resourceVersion,
}: ObjectMeta): ObjectMeta {
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
}

/** What each container of a pod is seen to use; undefined for a pod that does not run, or whose use nobody set. */
export function usageOf({ metadata, status }: Pod): Usage | undefined {
  const cpu = metadata.annotations?.[CPU_ANNOTATION];
  const memory = metadata.annotations?.[MEMORY_ANNOTATION];
  if (status?.phase !== 'Running' || (cpu === undefined && memory === undefined)) return undefined;
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

function metricsOf(pod: Pod, now: number): ApiObject {
  const { metadata, spec } = pod;
  const usage = usageOf(pod);
  return {
    metadata: measuredMetadata(metadata),
    timestamp: formatTime(now),
    window: WINDOW,
    containers:
      usage === undefined ? [] : (spec?.containers ?? []).map((container) => ({ name: container.name, usage })),
  };
}
