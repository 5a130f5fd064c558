import type { Metrics } from '../../machinery/runtime/index.ts';
import type { ServerContext } from '../context/server-context.ts';

/** Names of one number: dashboards of older Kubernetes ask for the second. */
const NAMES = ['apiserver_storage_objects', 'etcd_object_counts'] as const;

/** How many objects of each kind are stored, custom resources included, by the name of the resource and its group. */
export function registerStorageMetrics(
  metrics: Metrics,
  { registry, store }: Pick<ServerContext, 'registry' | 'store'>,
): void {
  function* counted(): Iterable<{ group: string; plural: string; count: number }> {
    for (const resource of registry.resources()) {
      const { group, plural, prefix, verbs } = resource;
      if (resource.review !== undefined || !verbs.includes('create')) continue;
      yield { group, plural, count: store.count(prefix) };
    }
  }
  function* joined(): Iterable<[{ resource: string }, number]> {
    for (const { count, group, plural } of counted()) {
      yield [{ resource: group === '' ? plural : `${plural}.${group}` }, count];
    }
  }
  for (const name of NAMES) metrics.countedGauge(name, joined);
  metrics.countedGauge('apiserver_resource_objects', function* () {
    for (const { count, group, plural } of counted()) yield [{ group, resource: plural }, count];
  });
}
