import type { Job } from '../../../api/generated/batch-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import { keyOf, type ResourceType } from '../../../api/resource.ts';
import { defineController, isNotFound, settled, watch } from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

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

const expiring = (job: Job): string | undefined => (expiresAt(job) === undefined ? undefined : keyOf(job));

/** Deletes finished jobs that asked for it, with their pods. */
export const ttlAfterFinishedController = defineController({
  name: 'ttl-after-finished',
  deps: ({ client, clock, informers }) => ({ client, clock, jobs: informers.of(jobType) }),
  watches: ({ jobs }) => [watch(jobs, { added: expiring, updated: expiring })],
  async reconcile({ client, clock, jobs }, key) {
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
  },
});
