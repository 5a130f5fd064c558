import type { DisruptionMode } from '../../api/generated/scheduling-v1beta1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { type LeaderWorkerSet, LWS } from '../../api/lws/types.ts';
import { readGangAnnotation } from './annotations.ts';

export type LeaderWorkerGangVerdict =
  | { readonly reason: 'NotAsked' | 'TemplateHasGroup' | 'Unreadable' | 'DifferentPriorities' }
  | { readonly reason: 'Gang'; readonly minCount: number };

/**
 * Whether each group of a set is to be placed as one gang, and how many of its pods at least. First that applies:
 *  1. neither the annotation nor `spec.scheduling` asks for it
 *  2. a template names a group of its own
 *  3. the annotation cannot be read
 *  4. leader and workers have different priorities, and a gang has only one
 */
export function decideSetGang(lws: LeaderWorkerSet): LeaderWorkerGangVerdict {
  const asked = readGangAnnotation(lws.metadata);
  const { scheduling } = lws.spec ?? {};
  if ((asked.reason === 'Unset' || asked.reason === 'Declined') && (scheduling ?? undefined) === undefined) {
    return { reason: 'NotAsked' };
  }
  const { leaderTemplate, size = 1, workerTemplate } = lws.spec?.leaderWorkerTemplate ?? {};
  const templates = [leaderTemplate ?? workerTemplate, workerTemplate];
  if (templates.some((template) => template?.spec?.schedulingGroup)) return { reason: 'TemplateHasGroup' };
  if (asked.reason === 'Unreadable') return { reason: 'Unreadable' };
  const [leader, worker] = templates.map((template) => template?.spec?.priorityClassName ?? '');
  if (leader !== worker && size > 1) return { reason: 'DifferentPriorities' };
  return { reason: 'Gang', minCount: asked.reason === 'AtLeast' ? Math.min(asked.count, size) : size };
}

/** The one template of a set's Workload: what a replica of the set is. */
export const REPLICA_TEMPLATE = 'replica';

/** Where one pod lost costs the group anyway, preemption takes it whole instead of leaving a useless rest. */
export function disruptionOf({ spec }: LeaderWorkerSet): DisruptionMode | undefined {
  const { restartPolicy = 'RecreateGroupOnPodRestart' } = spec?.leaderWorkerTemplate ?? {};
  return restartPolicy.startsWith('RecreateGroup') ? { all: {} } : undefined;
}

/**
 * Pods of a replica that must be placed together now. Its leader tells the size it was made for, which an update in
 * progress may have changed for others.
 *
 * Where workers wait for a ready leader, the leader has to be placed alone: the minimum is 1 until it is ready and
 * the whole from then on, so that at least the workers come together or not at all.
 */
export function minimumOfReplica(
  { metadata, spec }: LeaderWorkerSet,
  leader: Pod,
  { hasWorkers, isReady }: { readonly hasWorkers: boolean; readonly isReady: boolean },
): number {
  const declared = Number(leader.metadata.annotations?.[LWS.size] ?? spec?.leaderWorkerTemplate?.size ?? 1);
  const size = Number.isSafeInteger(declared) && declared > 0 ? declared : 1;
  const asked = readGangAnnotation(metadata);
  if (spec?.startupPolicy === 'LeaderReady' && !hasWorkers && !isReady) return 1;
  return asked.reason === 'AtLeast' ? Math.min(asked.count, size) : size;
}
