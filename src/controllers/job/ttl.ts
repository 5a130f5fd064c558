import type { Job } from '../../api/generated/batch-v1.ts';
import { jobType } from '../../api/resource-types.ts';
import type { ObjectKey } from '../../api/resource.ts';
import {
  type Client,
  type Clock,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../machinery/runtime/index.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { isFinished, jobCondition } from './finish.ts';

/** When a finished Job is to be deleted; undefined while it is not finished or has no such wish. */
export function expiresAt(job: Job): number | undefined {
  const seconds = job.spec?.ttlSecondsAfterFinished;
  if (seconds === undefined || !isFinished(job)) return undefined;
  const ended = jobCondition(job, 'Complete') ?? jobCondition(job, 'Failed');
  const at = parseTime(ended?.lastTransitionTime);
  return at === undefined ? undefined : at + seconds * 1000;
}

/** Deletes a finished Job, its pods first, once its time is over. */
export async function reconcileTtl(
  { client, clock, jobs }: { client: Client; clock: Clock; jobs: Informer<Job> },
  key: ObjectKey,
): Promise<ReconcileResult> {
  const job = jobs.get(key);
  const at = job === undefined ? undefined : expiresAt(job);
  if (job === undefined || at === undefined || job.metadata.deletionTimestamp) return settled;
  const leftMs = at - clock.now();
  if (leftMs > 0) return { requeueAfterMs: leftMs };
  const { resourceVersion, uid } = job.metadata;
  const options = { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } } as const;
  await client.delete(jobType, key, options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  return settled;
}
