import type { JobCondition, JobStatus } from '../../../api/generated/batch-v1.ts';
import { newCondition } from './finish.ts';

/** The list with this condition in the place of its type, unless it already says the same. */
export function setCondition(conditions: readonly JobCondition[] | undefined, next: JobCondition): JobCondition[] {
  const known = conditions?.find(({ type }) => type === next.type);
  if (known === undefined) return [...(conditions ?? []), next];
  const same = known.status === next.status && known.reason === next.reason && known.message === next.message;
  return (conditions ?? []).map((condition) => (condition === known && !same ? next : condition));
}

/** The final condition, once every pod is counted and none is still stopping. */
export function concludeStatus(
  status: JobStatus,
  finish: JobCondition | undefined,
  { now, terminating }: { now: number; terminating: number },
): JobStatus {
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {};
  if (finish === undefined || failed.length + succeeded.length > 0 || terminating > 0) return status;
  const type = finish.type === 'FailureTarget' ? 'Failed' : 'Complete';
  const condition = newCondition(type, finish.reason ?? '', finish.message ?? '', now);
  return {
    ...status,
    conditions: setCondition(status.conditions, condition),
    ...(type === 'Complete' && { completionTime: condition.lastTransitionTime }),
  };
}
