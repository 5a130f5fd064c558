import type { Metrics } from '../../machinery/runtime/index.ts';
import type { ServerContext } from '../context/server-context.ts';

/** Both names of one number: dashboards of older Kubernetes ask for the second. */
const NAMES = ['apiserver_storage_objects', 'etcd_object_counts'] as const;

/** How many objects of each kind are stored, custom resources included, by the name of the resource and its group. */
export function registerStorageMetrics(
  metrics: Metrics,
  { registry, store }: Pick<ServerContext, 'registry' | 'store'>,
): void {
  function* count(): Iterable<[{ resource: string }, number]> {
    for (const resource of registry.resources()) {
      const { group, plural, prefix, verbs } = resource;
      if (resource.review !== undefined || !verbs.includes('create')) continue;
      yield [{ resource: group === '' ? plural : `${plural}.${group}` }, store.count(prefix)];
    }
  }
  for (const name of NAMES) metrics.countedGauge(name, count);
}
