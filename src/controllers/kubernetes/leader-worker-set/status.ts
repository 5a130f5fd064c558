import type { Condition } from '../../../api/generated/meta-v1.ts';
import { type LeaderWorkerSet, type LeaderWorkerSetStatus, LWS } from '../../../api/lws/types.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { replicasOf, sizeOf } from './desired.ts';
import { type LeaderWorkerGroup, isGroupReady } from './groups.ts';

export function computeStatus(
  lws: LeaderWorkerSet,
  groups: readonly LeaderWorkerGroup[],
  { now, revision }: { now: number; revision: string },
): LeaderWorkerSetStatus {
  const existing = groups.filter(({ leader }) => leader !== undefined);
  const readyReplicas = existing.filter((group) => isGroupReady(group, sizeOf(lws))).length;
  const updatedReplicas = existing.filter((group) => group.revision === revision).length;
  const progress = progressOf(lws, existing, revision);
  const isAvailable = progress === 'Available';
  const previous = lws.status?.conditions ?? [];
  const write = (type: string, holds: boolean): Condition =>
    condition(previous, { type, holds, ...TEXTS[progress] }, { now, generation: lws.metadata.generation });
  // An update goes on until all groups that it is about serve; before the first there is nothing to say.
  const before = previous.find(({ type }) => type === UPDATING);
  const isUpdating = progress === 'Updating' || (!isAvailable && before?.status === 'True');
  return {
    conditions: [
      write('Available', isAvailable),
      write('Progressing', !isAvailable),
      ...(isUpdating || before !== undefined ? [write(UPDATING, isUpdating)] : []),
    ],
    observedGeneration: lws.metadata.generation,
    replicas: existing.length,
    readyReplicas,
    updatedReplicas,
    hpaPodSelector: `${LWS.name}=${lws.metadata.name},${LWS.workerIndex}=0`,
  };
}

const UPDATING = 'UpdateInProgress';

type Progress = 'Available' | 'Progressing' | 'Updating';

const TEXTS: Readonly<Record<Progress, { readonly reason: string; readonly message: string }>> = {
  Available: { reason: 'AllGroupsReady', message: 'All groups are ready' },
  Progressing: { reason: 'GroupsProgressing', message: 'Groups are being made or are not ready yet' },
  Updating: { reason: 'GroupsUpdating', message: 'Groups of an older revision are being replaced' },
};

/**
 * How far the set has come, by the groups that are to stay: those of an update's time do not stand in for them.
 *  1. groups from the partition on are of an older revision: Updating
 *  2. a group is missing or not ready: Progressing
 *  3. otherwise: Available. Groups below the partition may be of any revision.
 */
function progressOf(lws: LeaderWorkerSet, existing: readonly LeaderWorkerGroup[], revision: string): Progress {
  const wanted = replicasOf(lws);
  const partition = lws.spec?.rolloutStrategy?.rollingUpdateConfiguration?.partition ?? 0;
  const staying = existing.filter(({ index }) => index < wanted);
  if (staying.some((group) => group.index >= partition && group.revision !== revision)) return 'Updating';
  const ready = staying.filter((group) => isGroupReady(group, sizeOf(lws)));
  return ready.length >= wanted ? 'Available' : 'Progressing';
}

function condition(
  previous: readonly Condition[],
  { holds, message, reason, type }: { type: string; holds: boolean; reason: string; message: string },
  { generation, now }: { generation: number | undefined; now: number },
): Condition {
  const status = holds ? 'True' : 'False';
  const old = previous.find((candidate) => candidate.type === type);
  const lastTransitionTime =
    old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
  return { type, status, reason, message, observedGeneration: generation, lastTransitionTime };
}
