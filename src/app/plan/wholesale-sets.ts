import { type LeaderWorkerSet, leaderWorkerSetType } from '../../api/lws/types.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { ClusterReader } from '../disruption/cluster-reader.ts';

/** Whether the groups of a LeaderWorkerSet restart as a whole, which is what it does unless told otherwise. */
export function isWholesale({ spec }: LeaderWorkerSet): boolean {
  return (spec?.leaderWorkerTemplate?.restartPolicy ?? 'RecreateGroupOnPodRestart') !== 'None';
}

/** LeaderWorkerSets whose groups restart as a whole, as `namespace/name`. */
export async function gatherWholesaleSets(client: Client): Promise<ReadonlySet<string>> {
  const reader = new ClusterReader(client);
  const sets = await reader.list([leaderWorkerSetType]);
  reader.assertComplete();
  return new Set(sets.filter(isWholesale).map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`));
}
