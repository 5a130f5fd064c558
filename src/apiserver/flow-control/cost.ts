import type { Registry } from '../registry/registry.ts';
import { collectionPrefix } from '../registry/resource.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Store } from '../../storage/index.ts';

const OBJECTS_PER_SEAT = 100;
const MOST = 100;

/** How much of the thread a request is expected to take, in single reads: one for each 100 objects that a list looks at. */
export function costOf(
  { registry, store }: { readonly registry: Registry; readonly store: Pick<Store, 'count'> },
  info: RequestInfo,
  search: string,
): number {
  if (info.kind === 'plain' || (info.verb !== 'list' && info.verb !== 'watch' && info.verb !== 'deletecollection')) {
    return 1;
  }
  if (search.includes('metadata.name%3D') || search.includes('metadata.name=')) return 1;
  const query = new URLSearchParams(search);
  const revision = query.get('resourceVersion') ?? '';
  const startsLate = info.verb === 'watch' && query.get('sendInitialEvents') !== 'true' && Number(revision) > 0;
  const resource = startsLate ? undefined : registry.byPlural(info.group, info.plural);
  if (resource === undefined) return 1;
  const stored = store.count(collectionPrefix(resource, info.namespace));
  const limit = Number(query.get('limit') ?? 0);
  const looked = limit > 0 && !search.includes('Selector') ? Math.min(limit, stored) : stored;
  return Math.max(1, Math.min(MOST, Math.ceil(looked / OBJECTS_PER_SEAT)));
}
