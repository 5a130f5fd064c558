import type { JobSet, ReplicatedJob } from '../../api/jobset/types.ts';
import { readGangAnnotation, UNIT_ANNOTATION } from './annotations.ts';
import { type NamedTemplate, newTemplate, type WorkloadTemplates } from './objects.ts';

/** A Workload lists no more templates than this. */
const MOST_TEMPLATES = 8;

export type JobSetVerdict =
  | { readonly reason: 'NotAsked' | 'TemplateHasGroup' | 'Unreadable' | 'DifferentPriorities' | 'TooManyTemplates' }
  /** A group for each of its Jobs, or one for all of them. */
  | { readonly reason: 'Gang'; readonly unit: 'Job' | 'JobSet'; readonly templates: readonly NamedTemplate[] };

/**
 * Whether the Jobs of a JobSet get groups. First that applies:
 *  1. the annotation does not ask for it
 *  2. it cannot be read, or the one for the unit names another than `job` and `jobset`
 *  3. a template names a group of its own
 *  4. there are more replicated Jobs than a Workload has templates
 *  5. their pods have different priorities, and all groups of a Workload have one
 */
export function decideJobSetGang({ metadata, spec }: JobSet): JobSetVerdict {
  const asked = readGangAnnotation(metadata);
  if (asked.reason === 'Unset' || asked.reason === 'Declined') return { reason: 'NotAsked' };
  const unit = metadata.annotations?.[UNIT_ANNOTATION] ?? 'job';
  if (asked.reason !== 'All' || (unit !== 'job' && unit !== 'jobset')) return { reason: 'Unreadable' };
  const jobs = spec?.replicatedJobs ?? [];
  const pods = jobs.map(({ template }) => template?.spec?.template.spec);
  if (pods.some((pod) => pod?.schedulingGroup)) return { reason: 'TemplateHasGroup' };
  if (jobs.length > MOST_TEMPLATES) return { reason: 'TooManyTemplates' };
  const [priorityClassName, ...others] = new Set(pods.map((pod) => pod?.priorityClassName ?? ''));
  if (others.length > 0) return { reason: 'DifferentPriorities' };
  const templates = jobs.map((job) => ({
    name: job.name,
    minCount: parallelismOf(job),
    priorityClassName: priorityClassName || undefined,
  }));
  return { reason: 'Gang', unit: unit === 'jobset' ? 'JobSet' : 'Job', templates };
}

const parallelismOf = ({ template }: ReplicatedJob): number => Math.max(template?.spec?.parallelism ?? 1, 1);
const replicasOf = ({ replicas }: ReplicatedJob): number => replicas ?? 1;

/** The template of the whole; a replicated Job may have the name. */
export function wholeTemplateName(templates: readonly NamedTemplate[]): string {
  return templates.some(({ name }) => name === 'jobset') ? 'whole-jobset' : 'jobset';
}

/** All pods of all Jobs. */
export function podsOfJobSet({ spec }: JobSet): number {
  return (spec?.replicatedJobs ?? []).reduce((sum, job) => sum + replicasOf(job) * parallelismOf(job), 0);
}

/** The whole as one tree: every Job must be there, and one pod goes only together with all. */
export function treeTemplates({ spec }: JobSet, templates: readonly NamedTemplate[]): WorkloadTemplates {
  const minGroupCount = (spec?.replicatedJobs ?? []).reduce((sum, job) => sum + replicasOf(job), 0);
  const [{ priorityClassName } = {}] = templates as readonly Partial<NamedTemplate>[];
  return {
    compositePodGroupTemplates: [
      {
        name: wholeTemplateName(templates),
        schedulingPolicy: { gang: { minGroupCount } },
        disruptionMode: { all: {} },
        ...(priorityClassName && { priorityClassName }),
        podGroupTemplates: templates.map(newTemplate),
      },
    ],
  };
}
