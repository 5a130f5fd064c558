import { isJobFinished, jobCondition } from './job-state.ts';
import { duplicate, FieldPath, invalid, type Issue, required } from '../../machinery/values/index.ts';
import { nonNegative } from '../apps/replicas-validation.ts';
import type { Job } from '../generated/batch-v1.ts';

const STATUS = FieldPath.of('status');
const CONDITIONS = STATUS.child('conditions');

const has = (job: Job, type: string): boolean => jobCondition(job, type) !== undefined;

/** The invariants that make a Job's status trustworthy whoever writes it. */
export function validateJobStatus(job: Job, old: Job): Issue[] {
  const status = job.status ?? {};
  const issues: Issue[] = [];
  for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    issues.push(...nonNegative(status[name], STATUS.child(name)));
  }
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [index, uid] of (status.uncountedTerminatedPods?.[list] ?? []).entries()) {
      const at = STATUS.child('uncountedTerminatedPods', list).index(index);
      if (uid === '') issues.push(invalid(at, uid, 'must not be empty'));
      else if (seen.has(uid)) issues.push(duplicate(at, uid));
      seen.add(uid);
    }
  }
  const finishes = isJobFinished(job) && !isJobFinished(old);
  const conflict = (a: string, b: string): void => {
    if (has(job, a) && has(job, b))
      issues.push(invalid(CONDITIONS, '', `cannot set ${a}=True and ${b}=true conditions`));
  };
  conflict('Complete', 'Failed');
  conflict('Complete', 'FailureTarget');
  conflict('SuccessCriteriaMet', 'Failed');
  conflict('SuccessCriteriaMet', 'FailureTarget');
  if (finishes) issues.push(...validateFinish(job));
  if (status.completionTime !== undefined && !has(job, 'Complete')) {
    const text = 'cannot set completionTime when there is no Complete=True condition';
    issues.push(invalid(STATUS.child('completionTime'), status.completionTime, text));
  }
  for (const type of ['Failed', 'Complete', 'FailureTarget', 'SuccessCriteriaMet']) {
    if (has(old, type) && !has(job, type)) {
      issues.push(invalid(CONDITIONS, '', `cannot disable the terminal ${type}=True condition`));
    }
  }
  if ((status.failed ?? 0) < (old.status?.failed ?? 0)) {
    issues.push(invalid(STATUS.child('failed'), status.failed ?? 0, 'cannot decrease the failed counter'));
  }
  if (job.spec?.completionMode !== 'Indexed' && (status.succeeded ?? 0) < (old.status?.succeeded ?? 0)) {
    issues.push(invalid(STATUS.child('succeeded'), status.succeeded ?? 0, 'cannot decrease the succeeded counter'));
  }
  return issues;
}

function validateFinish(job: Job): Issue[] {
  const status = job.status ?? {};
  const issues: Issue[] = [];
  if (has(job, 'Complete') && status.completionTime === undefined) {
    issues.push(required(STATUS.child('completionTime'), 'completionTime is required for Complete jobs'));
  }
  if (has(job, 'Complete') && !has(job, 'SuccessCriteriaMet')) {
    const text = 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition';
    issues.push(invalid(CONDITIONS, '', text));
  }
  if (has(job, 'Failed') && !has(job, 'FailureTarget')) {
    const text = 'cannot set Failed=True condition without the FailureTarget=true condition';
    issues.push(invalid(CONDITIONS, '', text));
  }
  if ((status.active ?? 0) > 0) {
    issues.push(invalid(STATUS.child('active'), status.active, 'active>0 is invalid for finished job'));
  }
  if ((status.terminating ?? 0) > 0) {
    issues.push(invalid(STATUS.child('terminating'), status.terminating, 'terminating>0 is invalid for finished job'));
  }
  if (!status.startTime) issues.push(required(STATUS.child('startTime'), 'startTime is required for finished job'));
  return issues;
}
