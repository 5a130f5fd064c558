import type { KubeObject } from '../../api/resource.ts';
import { DisruptionIndex, FED_KINDS } from '../../decisions/disruption/index.ts';
import type { Entry, Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

/** An index of the server's own state, including what is still on its way to disk. */
export function createDisruptionView(kernel: Kernel): DisruptionIndex {
  const index = new DisruptionIndex();
  const feeds = FED_KINDS.flatMap((row) => {
    const [type] = row.types;
    const prefix = type && kernel.registry.byPlural(type.group, type.plural)?.prefix;
    return prefix === undefined ? [] : [{ prefix, row }];
  });
  const read = (entry: Entry): KubeObject => kernel.objects.readLean(entry) as KubeObject;
  const fill = (transaction: Transaction): void => {
    index.clear();
    for (const { prefix, row } of feeds) {
      for (const entry of transaction.range(prefix)) row.set(index, read(entry));
    }
  };
  const apply = ({ key, entry }: PendingWrite): void => {
    const feed = feeds.find(({ prefix }) => key.startsWith(prefix));
    if (feed === undefined) return;
    if (entry !== undefined) feed.row.set(index, read(entry));
    else {
      const slash = key.indexOf('/', feed.prefix.length);
      feed.row.delete(index, key.slice(feed.prefix.length, slash), key.slice(slash + 1));
    }
  };
  const load = (): void => {
    kernel.store.transact(fill).catch((error: unknown) => {
      kernel.log.error({ err: error }, 'cannot read the state that evictions are decided on');
    });
  };
  load();
  kernel.writes.listen({ wrote: (writes) => writes.forEach(apply), lost: load });
  return index;
}
