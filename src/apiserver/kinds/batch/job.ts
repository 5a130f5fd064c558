/** Job and CronJob. */
import type { CronJob, Job } from '../../../api/generated/batch-v1.ts';
import {
  FieldPath,
  formatAge,
  invalid,
  type Issue,
  notSupported,
  parseTime,
  required,
  semanticEqual,
} from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { nonNegative } from '../apps/workloads.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  NONE,
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { validatePodTemplate } from '../core/pod-validation.ts';

const asJob = (object: ApiObject): Job => object as unknown as Job;
const asCronJob = (object: ApiObject): CronJob => object as unknown as CronJob;
type JobSpec = NonNullable<Job['spec']>;

const SPEC = FieldPath.of('spec');
const MAX_INT32 = 2_147_483_647;
const UID_LABELS = ['batch.kubernetes.io/controller-uid', 'controller-uid'];
const NAME_LABELS = ['batch.kubernetes.io/job-name', 'job-name'];

function defaultJobSpec(spec: JobSpec): void {
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  spec.manualSelector ??= false;
  defaultPodTemplate(spec.template);
}

export const jobStrategy: Strategy = {
  defaults(object) {
    const job = asJob(object);
    if (job.spec) defaultJobSpec(job.spec);
    const labels = job.spec?.template?.metadata?.labels;
    if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
  },
  prepareForCreate(object) {
    object['status'] = {};
    const { spec } = asJob(object);
    if (!spec || spec.manualSelector) return;
    const uid = object.metadata.uid as string;
    const labels = { ...spec.template?.metadata?.labels };
    for (const name of NAME_LABELS) labels[name] = object.metadata.name as string;
    for (const name of UID_LABELS) labels[name] = uid;
    spec.template ??= { spec: { containers: [] } };
    spec.template.metadata = { ...spec.template.metadata, labels };
    spec.selector ??= { matchLabels: { [UID_LABELS[0] as string]: uid } };
  },
  validate: (object) => validateJobSpec(asJob(object).spec, SPEC),
  validateUpdate: validateJobUpdate,
  generation: 'spec',
  garbageCollection: 'Orphan',
  fields: (object) => ({ 'status.successful': String(asJob(object).status?.succeeded ?? 0) }),
  table: {
    columns: [
      nameColumn,
      text('Status', 0, 'State of the job'),
      text('Completions', 0, 'Pods that succeeded, of those wanted'),
      text('Duration', 0, 'How long it has run'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asJob(object);
      const containers = spec?.template?.spec?.containers;
      return [
        object.metadata.name ?? '',
        jobStatus(asJob(object)),
        completions(asJob(object)),
        duration(status?.startTime as string | undefined, status?.completionTime as string | undefined, now),
        since(object.metadata.creationTimestamp, now),
        containerNames(containers),
        containerImages(containers),
        selectorText(spec?.selector),
      ];
    },
  },
};

function jobStatus({ metadata, status }: Job): string {
  const is = (type: string) => status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false;
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (metadata?.deletionTimestamp) return 'Terminating';
  if (is('Suspended')) return 'Suspended';
  if (is('FailureTarget')) return 'FailureTarget';
  if (is('SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}

function completions({ spec, status }: Job): string {
  const done = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${done}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

function duration(start: string | undefined, end: string | undefined, now: number): string {
  const from = parseTime(start);
  return from === undefined ? '' : formatAge((parseTime(end) ?? now) - from);
}

function validateJobSpec(spec: JobSpec | undefined, path: FieldPath): Issue[] {
  if (!spec) return [required(path)];
  const issues = [
    ...nonNegative(spec.parallelism, path.child('parallelism')),
    ...nonNegative(spec.completions, path.child('completions')),
    ...nonNegative(spec.activeDeadlineSeconds, path.child('activeDeadlineSeconds')),
    ...nonNegative(spec.backoffLimit, path.child('backoffLimit')),
    ...nonNegative(spec.ttlSecondsAfterFinished, path.child('ttlSecondsAfterFinished')),
    ...validatePodTemplate(spec.template, path.child('template'), { restartPolicies: ['OnFailure', 'Never'] }),
  ];
  const mode = spec.completionMode ?? '';
  if (!['NonIndexed', 'Indexed'].includes(mode)) {
    issues.push(notSupported(path.child('completionMode'), mode, ['Indexed', 'NonIndexed']));
  }
  if (mode === 'Indexed' && spec.completions === undefined) {
    issues.push(required(path.child('completions'), 'when completion mode is Indexed'));
  }
  return issues;
}

function validateJobUpdate(object: ApiObject, old: ApiObject): Issue[] {
  const spec = asJob(object).spec;
  const before = asJob(old).spec;
  const issues: Issue[] = [];
  const frozen = (field: 'selector' | 'completionMode' | 'podFailurePolicy' | 'backoffLimitPerIndex' | 'managedBy') => {
    if (!semanticEqual(spec?.[field], before?.[field])) {
      issues.push(invalid(SPEC.child(field), spec?.[field] ?? null, 'field is immutable'));
    }
  };
  frozen('selector');
  frozen('completionMode');
  frozen('podFailurePolicy');
  frozen('backoffLimitPerIndex');
  frozen('managedBy');
  const elastic = spec?.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (spec?.completions !== before?.completions && !elastic) {
    issues.push(invalid(SPEC.child('completions'), spec?.completions ?? null, 'field is immutable'));
  }
  // The template of a job that has not started may still be tuned for where it will run.
  const suspended = before?.suspend === true && asJob(old).status?.startTime === undefined;
  const templates = [spec?.template, before?.template].map((template) => {
    if (!suspended || !template) return template;
    const {
      nodeSelector: _n,
      affinity: _a,
      tolerations: _t,
      schedulingGates: _g,
      ...rest
    } = template.spec ?? { containers: [] };
    return { spec: rest };
  });
  if (!semanticEqual(templates[0], templates[1])) {
    issues.push(invalid(SPEC.child('template'), spec?.template ?? null, 'field is immutable'));
  }
  return issues;
}

export const cronJobStrategy: Strategy = {
  defaults(object) {
    const { spec } = asCronJob(object);
    if (!spec) return;
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    if (spec.jobTemplate?.spec) {
      const template = spec.jobTemplate.spec;
      defaultPodTemplate(template.template);
    }
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  validate(object) {
    const { spec } = asCronJob(object);
    const issues: Issue[] = [];
    if (!spec?.schedule) issues.push(required(SPEC.child('schedule')));
    else if (spec.schedule.trim().split(/\s+/).length !== 5 && !spec.schedule.startsWith('@')) {
      issues.push(
        invalid(
          SPEC.child('schedule'),
          spec.schedule,
          `expected exactly 5 fields, found ${spec.schedule.trim().split(/\s+/).length}: [${spec.schedule}]`,
        ),
      );
    }
    const policies = ['Allow', 'Forbid', 'Replace'];
    if (!policies.includes(spec?.concurrencyPolicy ?? '')) {
      issues.push(notSupported(SPEC.child('concurrencyPolicy'), spec?.concurrencyPolicy, policies));
    }
    if ((object.metadata.name ?? '').length > 52) {
      issues.push(
        invalid(FieldPath.of('metadata', 'name'), object.metadata.name, 'must be no more than 52 characters'),
      );
    }
    return issues;
  },
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Schedule', 0, 'When it runs'),
      text('Timezone', 0, 'Zone of the schedule'),
      { name: 'Suspend', type: 'boolean', description: 'Whether it is held' },
      integer('Active', 0, 'Jobs running now'),
      text('Last Schedule', 0, 'Time since it last ran'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asCronJob(object);
      const containers = spec?.jobTemplate?.spec?.template?.spec?.containers;
      const last = status?.lastScheduleTime as string | undefined;
      return [
        object.metadata.name ?? '',
        spec?.schedule ?? '',
        spec?.timeZone ?? NONE,
        spec?.suspend ?? false,
        status?.active?.length ?? 0,
        last === undefined ? NONE : since(last, now),
        since(object.metadata.creationTimestamp, now),
        containerNames(containers),
        containerImages(containers),
        selectorText(spec?.jobTemplate?.spec?.selector),
      ];
    },
  },
};
