import { FieldPath, invalid, type Issue, notSupported, required } from '../../machinery/values/index.ts';
import { nonNegative, type TemplateCheck } from '../apps/replicas-validation.ts';
import type { CronJob, CronJobSpec } from '../generated/batch-v1.ts';
import { validateJobSpec } from './job-validation.ts';
import { isTimeZone, parseSchedule } from './schedule.ts';

const SPEC = FieldPath.of('spec');
/** Jobs are named after their CronJob with eleven characters more. */
const MAX_NAME = 52;

/** Takes a defaulted CronJob. */
export function validateCronJob({ metadata, spec }: CronJob, check: TemplateCheck): Issue[] {
  const issues = spec === undefined ? [required(SPEC)] : validateSpec(spec, undefined, check);
  if ((metadata.name ?? '').length > MAX_NAME) {
    issues.push(
      invalid(FieldPath.of('metadata', 'name'), metadata.name, `must be no more than ${MAX_NAME} characters`),
    );
  }
  return issues;
}

export function validateCronJobUpdate({ spec }: CronJob, old: CronJob, check: TemplateCheck): Issue[] {
  return spec === undefined ? [required(SPEC)] : validateSpec(spec, old.spec, check);
}

function validateSpec(spec: CronJobSpec, old: CronJobSpec | undefined, check: TemplateCheck): Issue[] {
  const issues: Issue[] = [...validateSchedule(spec)];
  issues.push(...nonNegative(spec.startingDeadlineSeconds, SPEC.child('startingDeadlineSeconds')));
  if (old === undefined || old.timeZone !== spec.timeZone) issues.push(...validateTimeZone(spec.timeZone));
  const policies = ['Allow', 'Forbid', 'Replace'];
  if (!policies.includes(spec.concurrencyPolicy ?? '')) {
    issues.push(notSupported(SPEC.child('concurrencyPolicy'), spec.concurrencyPolicy, policies));
  }
  const template = SPEC.child('jobTemplate', 'spec');
  const job = spec.jobTemplate?.spec;
  if (job === undefined) issues.push(required(template));
  else {
    issues.push(...validateJobSpec(job, template, check));
    if (job.selector !== undefined) {
      issues.push(invalid(template.child('selector'), job.selector, '`selector` will be auto-generated'));
    }
    if (job.manualSelector) {
      issues.push(notSupported(template.child('manualSelector'), job.manualSelector, ['nil', 'false']));
    }
  }
  issues.push(...nonNegative(spec.successfulJobsHistoryLimit, SPEC.child('successfulJobsHistoryLimit')));
  issues.push(...nonNegative(spec.failedJobsHistoryLimit, SPEC.child('failedJobsHistoryLimit')));
  return issues;
}

function validateSchedule({ schedule }: CronJobSpec): Issue[] {
  const path = SPEC.child('schedule');
  if (!schedule) return [required(path)];
  if (schedule.includes('TZ')) {
    return [invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  }
  if (parseSchedule(schedule) !== undefined) return [];
  const fields = schedule.trim().split(/\s+/).length;
  const text =
    fields === 5 || schedule.startsWith('@')
      ? 'failed to parse schedule'
      : `expected exactly 5 fields, found ${fields}: [${schedule.trim().split(/\s+/).join(' ')}]`;
  return [invalid(path, schedule, text)];
}

function validateTimeZone(timeZone: string | undefined): Issue[] {
  if (timeZone === undefined) return [];
  const path = SPEC.child('timeZone');
  if (timeZone === '') return [invalid(path, timeZone, 'timeZone must be nil or non-empty string')];
  if (timeZone.toLowerCase() === 'local') {
    const text = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalid(path, timeZone, text)];
  }
  return isTimeZone(timeZone) ? [] : [invalid(path, timeZone, `unknown time zone ${timeZone}`)];
}
