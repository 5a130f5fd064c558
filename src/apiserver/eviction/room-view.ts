import type { KubeObject } from '../../api/resource.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../api/kruise/types.ts';
import { podDisruptionBudgetType } from '../../api/resource-types.ts';
import { ROOM_KINDS, RoomKeeper } from '../../decisions/capacity/index.ts';
import { type DisruptionIndex, needsRoom } from '../../decisions/disruption/index.ts';
import { asksForRoom } from '../../decisions/unavailability/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

/** A budget of either kind that asks for room. */
const asksRoom = (budget: KubeObject): boolean =>
  budget.kind === POD_UNAVAILABLE_BUDGETS.kind
    ? asksForRoom(budget as PodUnavailableBudget)
    : needsRoom(budget.metadata.annotations);

type State = Pick<Transaction, 'range'>;

/**
 * Lets an index of the server's own state tell where pods could go. Nodes and what is on them are read when there first
 * is a budget that asks, and kept current from then on: who has none pays nothing.
 */
export function offerRoom(context: ServerContext, index: DisruptionIndex): void {
  const prefixOf = ({ group, plural }: { group: string; plural: string }): string | undefined =>
    context.registry.byPlural(group, plural)?.prefix;
  const feeds = ROOM_KINDS.flatMap((row) => {
    const prefix = row.types[0] && prefixOf(row.types[0]);
    return prefix === undefined ? [] : [{ prefix, row }];
  });
  const budgets = [podDisruptionBudgetType, POD_UNAVAILABLE_BUDGETS].flatMap((type) => prefixOf(type) ?? []);
  const read = (entry: StoredEntry): KubeObject => context.objects.readWithoutManagedFields(entry) as KubeObject;
  const asks = (entry: StoredEntry | undefined): boolean => entry !== undefined && asksRoom(read(entry));
  let keeper: RoomKeeper | undefined;
  const apply = (known: RoomKeeper, { entry, key }: PendingWrite): void => {
    const feed = feeds.find(({ prefix }) => key.startsWith(prefix));
    if (feed === undefined) return;
    if (entry !== undefined) feed.row.set(known, read(entry));
    else {
      const rest = key.slice(feed.prefix.length);
      const slash = rest.indexOf('/');
      feed.row.delete(known, slash < 0 ? '' : rest.slice(0, slash), rest.slice(slash + 1));
    }
  };
  const fill = (state: State): void => {
    // Our own scheduler places every pod here, and looks for a way. Nobody binds claims on this host.
    const known = new RoomKeeper({ searches: () => true });
    known.cluster.volumes.known = true;
    known.cluster.volumes.judgesUnbound = false;
    for (const { prefix, row } of feeds) for (const entry of state.range(prefix)) row.set(known, read(entry));
    keeper = known;
    index.room = known;
  };
  const load = (): void => {
    keeper = undefined;
    index.room = undefined;
    const look = (state: State): void => {
      if (keeper === undefined && budgets.some((prefix) => [...state.range(prefix)].some(asks))) fill(state);
    };
    context.store.transact(look).catch((error: unknown) => {
      context.log.error({ err: error }, 'cannot read the nodes that budgets ask for room on');
    });
  };
  load();
  context.writes.listen({
    wrote(writes, state) {
      if (keeper !== undefined) for (const write of writes) apply(keeper, write);
      else if (writes.some(({ entry, key }) => budgets.some((prefix) => key.startsWith(prefix)) && asks(entry)))
        fill(state);
    },
    lost: load,
  });
}
