import type { Job } from '../../api/generated/batch-v1.ts';
import { controllerOf } from '../../api/core/owner.ts';
import { readGangAnnotation } from './annotations.ts';

export type JobGangVerdict =
  | { readonly reason: 'NotAsked' | 'TemplateHasGroup' | 'OwnedByParent' | 'Unreadable' }
  /** A group whose pods are placed one by one. */
  | { readonly reason: 'Basic' }
  | { readonly reason: 'Gang'; readonly minCount: number };

/**
 * Whether a Job's pods are to be placed together, and how many at least. Asked for by annotation, or as newer versions
 * of the API do, by `spec.scheduling.schedulingPolicy.gang`; any other `spec.scheduling` asks for a group without a
 * minimum. The minimum never exceeds the parallelism. With `automatic`, an Indexed Job that runs all of its completions at once need not ask.
 */
export function decideJobGang(job: Job, { automatic = false } = {}): JobGangVerdict {
  const asked = readGangAnnotation(job.metadata);
  const { scheduling } = job.spec ?? {};
  const gang = scheduling?.schedulingPolicy?.gang;
  const silent = asked.reason === 'Unset' || asked.reason === 'Declined';
  const isGang = !silent || gang !== undefined;
  const isAutomatic = automatic && asked.reason === 'Unset' && scheduling === undefined && runsAllAtOnce(job);
  if (!isGang && !isAutomatic && scheduling === undefined) return { reason: 'NotAsked' };
  if (job.spec?.template.spec?.schedulingGroup !== undefined) return { reason: 'TemplateHasGroup' };
  if (controllerOf(job) !== undefined && controllerOf(job)?.kind !== 'CronJob') return { reason: 'OwnedByParent' };
  if (asked.reason === 'Unreadable') return { reason: 'Unreadable' };
  if (!isGang && !isAutomatic) return { reason: 'Basic' };
  const parallelism = Math.max(job.spec?.parallelism ?? 1, 1);
  const wanted = asked.reason === 'AtLeast' ? asked.count : gang?.minCount;
  return { reason: 'Gang', minCount: Math.min(wanted ?? parallelism, parallelism) };
}

function runsAllAtOnce({ spec }: Job): boolean {
  const { completionMode, completions, parallelism = 1 } = spec ?? {};
  return completionMode === 'Indexed' && parallelism > 1 && completions === parallelism;
}

/** A Job that has done nothing yet; only such a one is given a Workload. */
export function isNew({ status }: Job, podCount: number): boolean {
  const suspendedBefore = status?.conditions?.some(({ type }) => type === 'Suspended') ?? false;
  return podCount === 0 && !status?.startTime && !status?.succeeded && !status?.failed && !suspendedBefore;
}
