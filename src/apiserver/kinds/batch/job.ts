import {
  defaultJob,
  generateSelector,
  validateJob,
  validateJobStatus,
  validateJobUpdate,
} from '../../../api/batch/index.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import { formatAge, parseTime } from '../../../machinery/values/index.ts';
import {
  ageColumn,
  nameColumn,
  selectorColumn,
  selectorText,
  table,
  templateColumns,
  text,
} from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { checkTemplate } from '../apps/template-check.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';

export const jobStrategy = strategyOf<Job>({
  defaults(object) {
    defaultJob(object);
    defaultPodTemplate(object.spec?.template);
  },
  prepareForCreate(object) {
    generateSelector(object);
    object['status'] = {};
  },
  validate: (object) => validateJob(object, checkTemplate),
  validateUpdate: (object, old) => validateJobUpdate(object, old, checkTemplate),
  validateStatusUpdate: (object, old) => validateJobStatus(object, old),
  fields: (object) => ({ 'status.successful': String(object.status?.succeeded ?? 0) }),
  generation: 'spec',
  garbageCollection: 'Orphan',
  table: table([
    nameColumn,
    text('Status', 'What the Job is doing', statusText),
    text('Completions', 'Pods that succeeded, of those wanted', completionsText),
    text('Duration', 'Time it took, or has been running', ({ status }, { now }) => {
      const startedAt = parseTime(status?.startTime);
      return startedAt === undefined ? '' : formatAge((parseTime(status?.completionTime) ?? now) - startedAt);
    }),
    ageColumn,
    ...templateColumns<Job>(({ spec }) => spec?.template),
    selectorColumn(({ spec }) => selectorText(spec?.selector)),
  ]),
});

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
