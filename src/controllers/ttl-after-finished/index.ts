import type { Job } from '../../api/generated/batch-v1.ts';
import { builtinType } from '../../api/registry.ts';
import { keyOf, type ObjectKey, type ResourceType } from '../../api/resource.ts';
import {
  isNotFound,
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';
import { parseTime } from '../../machinery/values/index.ts';

const jobType = builtinType('Job', 'batch') as ResourceType<Job>;

/** When a job may be cleaned up: its time to live after it finished. Undefined while it runs, or if it asks for none. */
export function expiresAt({ metadata, spec, status }: Job): number | undefined {
  const ttlSeconds = spec?.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || ttlSeconds === null || metadata.deletionTimestamp) return undefined;
  const end = status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  const finished = parseTime(end?.lastTransitionTime);
  return finished === undefined ? undefined : finished + ttlSeconds * 1000;
}

/** Deletes finished jobs that asked for it, with their pods. */
export const startTtlAfterFinishedController: StartController = (context): RunningController => {
  const { client, clock, informers } = context;
  const jobs = informers.of(jobType);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const known = jobs.get(key);
    const due = known && expiresAt(known);
    if (due === undefined) return settled;
    if (due > clock.now()) return { requeueAfterMs: due - clock.now() };
    try {
      // The cache may be old, and someone may have given the job more time.
      const live = await client.get(jobType, key);
      const fresh = expiresAt(live);
      const { uid, resourceVersion } = live.metadata;
      if (uid !== known?.metadata.uid || fresh === undefined || fresh > clock.now()) return settled;
      await client.delete(jobType, key, { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return settled;
  }

  const { queue } = runController({
    name: 'ttl-after-finished',
    context,
    ready: () => jobs.whenSynced(),
    reconcile,
  });
  const wake = (job: Job) => {
    if (expiresAt(job) !== undefined) queue.add(keyOf(job));
  };
  jobs.addHandler({ added: wake, updated: wake });
  return { name: 'ttl-after-finished', queues: [queue] };
};
