import type { LeaderWorkerSet } from '../../api/lws/types.ts';

/** Whether the groups of a LeaderWorkerSet restart as a whole, which is what it does unless told otherwise. */
export function isWholesale({ spec }: LeaderWorkerSet): boolean {
  return (spec?.leaderWorkerTemplate?.restartPolicy ?? 'RecreateGroupOnPodRestart') !== 'None';
}
