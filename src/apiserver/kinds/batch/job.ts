import {
  defaultJob,
  generateSelector,
  validateJob,
  validateJobStatus,
  validateJobUpdate,
} from '../../../api/batch/index.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import { checkDnsLabel, formatAge, parseTime } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { checkTemplate } from '../apps/template-check.ts';
import { ageColumn, containerImages, containerNames, nameColumn, selectorText, since, text } from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';

const asJob = (object: ApiObject): Job => object as unknown as Job;

export const jobStrategy: Strategy = {
  defaults(object) {
    const job = asJob(object);
    defaultJob(job);
    defaultPodTemplate(job.spec?.template);
  },
  prepareForCreate(object) {
    generateSelector(asJob(object));
    object['status'] = {};
  },
  validate: (object) => validateJob(asJob(object), checkTemplate),
  validateUpdate: (object, old) => validateJobUpdate(asJob(object), asJob(old), checkTemplate),
  validateStatusUpdate: (object, old) => validateJobStatus(asJob(object), asJob(old)),
  warnings(object) {
    const problems = checkDnsLabel(object.metadata.name ?? '');
    if (problems.length === 0) return [];
    const text =
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
    return [`${text}: [${problems.join(' ')}]`];
  },
  fields: (object) => ({ 'status.successful': String(asJob(object).status?.succeeded ?? 0) }),
  generation: 'spec',
  garbageCollection: 'Orphan',
  table: {
    columns: [
      nameColumn,
      text('Status', 0, 'What the Job is doing'),
      text('Completions', 0, 'Pods that succeeded, of those wanted'),
      text('Duration', 0, 'Time it took, or has been running'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const job = asJob(object);
      const { spec, status } = job;
      const startedAt = parseTime(status?.startTime);
      const endedAt = parseTime(status?.completionTime) ?? now;
      return [
        object.metadata.name ?? '',
        statusText(job),
        completionsText(job),
        startedAt === undefined ? '' : formatAge(endedAt - startedAt),
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selectorText(spec?.selector),
      ];
    },
  },
};

function statusText({ metadata, status }: Job): string {
  const has = (type: string) => status?.conditions?.some((item) => item.type === type && item.status === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}
