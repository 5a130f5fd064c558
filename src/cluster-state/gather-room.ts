import { ROOM_KINDS, RoomKeeper } from '../decisions/capacity/index.ts';
import type { Client } from '../machinery/runtime/index.ts';
import { ClusterReader } from './cluster-reader.ts';
import { levelOf, schedulersOf } from './gather-placement.ts';

/** Reads where pods could go, for budgets that ask for room; what may not be read makes them unable to tell. */
export async function gatherRoom(client: Client): Promise<RoomKeeper> {
  const unread: string[] = [];
  const unsure = (): string | undefined => (unread.length === 0 ? undefined : `may not read ${unread.join(', ')}`);
  const searches = await schedulersOf(client);
  const keeper = new RoomKeeper({ rules: { level: await levelOf(client) }, searches, unsure });
  keeper.cluster.volumes.known = true;
  // Nobody binds claims on the embedded host, where our scheduler places everything.
  keeper.cluster.volumes.judgesUnbound = !searches('default-scheduler');
  for (const row of ROOM_KINDS) {
    const reader = new ClusterReader(client);
    for (const object of await reader.listNamed(row.types)) row.set(keeper, object);
    if (reader.unread.length === 0) continue;
    if (row.role === 'Volume') keeper.cluster.volumes.known = false;
    else if (row.role !== 'Owner') unread.push(...reader.unread);
  }
  return keeper;
}
