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
  const wanted = replicasOf(lws);
  // Groups that are there only for the time of an update do not stand in for those that are to stay.
  const serving = existing.filter(
    (group) => group.index < wanted && group.revision === revision && isGroupReady(group, sizeOf(lws)),
  );
  const available = serving.length >= wanted;
  const previous = lws.status?.conditions ?? [];
  return {
    conditions: [
      condition(previous, now, {
        type: 'Available',
        holds: available,
        reason: available ? 'AllGroupsReady' : 'GroupsNotReady',
      }),
      condition(previous, now, {
        type: 'Progressing',
        holds: !available,
        reason: available ? 'AllGroupsReady' : 'GroupsProgressing',
      }),
    ],
    observedGeneration: lws.metadata.generation,
    replicas: existing.length,
    readyReplicas,
    updatedReplicas,
    hpaPodSelector: `${LWS.name}=${lws.metadata.name},${LWS.workerIndex}=0`,
  };
}

function condition(
  previous: readonly Condition[],
  now: number,
  { type, holds, reason }: { type: string; holds: boolean; reason: string },
): Condition {
  const status = holds ? 'True' : 'False';
  const old = previous.find((candidate) => candidate.type === type);
  const lastTransitionTime =
    old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
  return { type, status, reason, message: '', lastTransitionTime };
}
