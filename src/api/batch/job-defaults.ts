import type { CronJob, Job, JobSpec } from '../generated/batch-v1.ts';

const MAX_INT32 = 2_147_483_647;

/** Defaults of the kind itself; those of the pod template are the pod's. */
export function defaultJob({ metadata, spec }: Job): void {
  if (spec === undefined) return;
  // A patch may have taken it away; it is found empty then, and refused for that.
  spec.template ??= {};
  const labels = spec.template.metadata?.labels;
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  defaultJobSpec(spec);
}

function defaultJobSpec(spec: JobSpec): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  spec.manualSelector ??= false;
  defaultFailurePolicy(spec);
}

function defaultFailurePolicy({ podFailurePolicy }: JobSpec): void {
  for (const rule of podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

/** The template of its Jobs is defaulted when a Job is made from it. */
export function defaultCronJob({ spec }: CronJob): void {
  if (spec === undefined) return;
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  if (spec.jobTemplate?.spec) defaultFailurePolicy(spec.jobTemplate.spec);
}

const JOB_NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const CONTROLLER_UID_LABELS = ['controller-uid', CONTROLLER_UID];

/** Labels the pods with the Job's name and UID and selects them by the UID, unless the client wants to see to that. */
export function generateSelector({ metadata, spec }: Job): void {
  if (spec === undefined || spec.manualSelector) return;
  spec.template ??= {};
  spec.template.metadata ??= {};
  const labels = { ...spec.template.metadata.labels };
  for (const name of JOB_NAME_LABELS) labels[name] ??= metadata.name ?? '';
  for (const name of CONTROLLER_UID_LABELS) labels[name] ??= metadata.uid ?? '';
  spec.template.metadata.labels = labels;
  spec.selector ??= {};
  spec.selector.matchLabels = { [CONTROLLER_UID]: metadata.uid ?? '', ...spec.selector.matchLabels };
}
