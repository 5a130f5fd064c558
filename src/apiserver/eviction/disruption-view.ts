import type { KubeObject } from '../../api/resource.ts';
import { DisruptionIndex, FED_KINDS, NOTICE_FEED } from '../../decisions/disruption/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

/** An index of the server's own state, including what is still on its way to disk. */
export function createDisruptionView(context: ServerContext): DisruptionIndex {
  const index = new DisruptionIndex({ now: () => context.clock.now() });
  const feeds = [...FED_KINDS, NOTICE_FEED].flatMap((resource) => {
    const [type] = resource.types;
    const prefix = type && context.registry.byPlural(type.group, type.plural)?.prefix;
    return prefix === undefined ? [] : [{ prefix, resource }];
  });
  const read = (entry: StoredEntry): KubeObject => context.objects.readWithoutManagedFields(entry) as KubeObject;
  const fill = (transaction: Transaction): void => {
    index.clear();
    for (const { prefix, resource } of feeds) {
      for (const entry of transaction.range(prefix)) resource.set(index, read(entry));
    }
  };
  const apply = ({ key, entry }: PendingWrite): void => {
    const feed = feeds.find(({ prefix }) => key.startsWith(prefix));
    if (feed === undefined) return;
    if (entry !== undefined) feed.resource.set(index, read(entry));
    else {
      const slash = key.indexOf('/', feed.prefix.length);
      feed.resource.delete(index, key.slice(feed.prefix.length, slash), key.slice(slash + 1));
    }
  };
  const load = (): void => {
    context.store.transact(fill).catch((error: unknown) => {
      context.log.error({ err: error }, 'cannot read the state that evictions are decided on');
    });
  };
  load();
  context.writes.listen({ wrote: (writes) => writes.forEach(apply), lost: load });
  return index;
}
