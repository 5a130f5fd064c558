import { leaderWorkerSetType } from '../api/lws/types.ts';
import { isWholesale } from '../decisions/drain-question/index.ts';
import type { Client } from '../machinery/runtime/index.ts';
import { ClusterReader } from './cluster-reader.ts';

/** LeaderWorkerSets whose groups restart as a whole, as `namespace/name`. */
export async function gatherWholesaleSets(client: Client): Promise<ReadonlySet<string>> {
  const reader = new ClusterReader(client);
  const sets = await reader.list([leaderWorkerSetType]);
  reader.assertComplete();
  return new Set(sets.filter(isWholesale).map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`));
}
