import type { LeaderWorkerSet } from '../../../api/lws/types.ts';
import { readGangAnnotation } from '../../shared/workload-groups/index.ts';

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
export function decideGang(lws: LeaderWorkerSet): LeaderWorkerGangVerdict {
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
