import type { Job } from '../../api/generated/batch-v1.ts';
import { controllerOf } from '../../api/core/owner.ts';

/** On a Job: `true` for all of its parallelism at once, a number for at least that many. */
export const GANG_ANNOTATION = 'scheduling.quorate.dev/gang';

interface JobScheduling {
  readonly scheduling?: { readonly schedulingPolicy?: { readonly gang?: { readonly minCount?: number } } };
}

export type GangVerdict =
  | { readonly reason: 'NotAsked' | 'TemplateHasGroup' | 'OwnedByParent' | 'Unreadable' }
  | { readonly reason: 'Gang'; readonly minCount: number };

/**
 * Whether a Job's pods are to be placed together, and how many at least. Asked for by annotation, or as newer versions
 * of the API do, by `spec.scheduling.schedulingPolicy.gang`. The minimum never exceeds the parallelism. With
 * `automatic`, an Indexed Job that runs all of its completions at once need not ask.
 */
export function decideGang(job: Job, { automatic = false } = {}): GangVerdict {
  const annotation = job.metadata.annotations?.[GANG_ANNOTATION];
  const gang = (job.spec as (Job['spec'] & JobScheduling) | undefined)?.scheduling?.schedulingPolicy?.gang;
  const asked = (annotation !== undefined && annotation !== 'false') || gang !== undefined;
  if (!asked && !(automatic && annotation === undefined && runsAllAtOnce(job))) return { reason: 'NotAsked' };
  if (job.spec?.template.spec?.schedulingGroup !== undefined) return { reason: 'TemplateHasGroup' };
  if (controllerOf(job) !== undefined && controllerOf(job)?.kind !== 'CronJob') return { reason: 'OwnedByParent' };
  const parallelism = Math.max(job.spec?.parallelism ?? 1, 1);
  if (annotation === undefined || annotation === 'true' || annotation === 'false') {
    return { reason: 'Gang', minCount: Math.min(gang?.minCount ?? parallelism, parallelism) };
  }
  if (!/^[1-9]\d{0,8}$/.test(annotation)) return { reason: 'Unreadable' };
  return { reason: 'Gang', minCount: Math.min(Number(annotation), parallelism) };
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
