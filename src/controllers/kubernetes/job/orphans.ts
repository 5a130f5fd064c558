import { isJobFinished } from '../../../api/batch/job-state.ts';
import { controllerOf } from '../../../api/core/owner.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { podType } from '../../../api/resource-types.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { isTracked, TRACKING_FINALIZER } from './pod-facts.ts';

/** A tracked pod that no Job counts any more would otherwise never go. */
export function isAbandoned(pod: Pod, jobs: Informer<Job>): boolean {
  if (!isTracked(pod)) return false;
  const owner = controllerOf(pod);
  if (owner === undefined) return true;
  if (owner.kind !== 'Job' || owner.apiVersion !== 'batch/v1') return false;
  const job = jobs.get({ namespace: pod.metadata.namespace, name: owner.name });
  return job === undefined || job.metadata.uid !== owner.uid || isJobFinished(job);
}

export async function releaseOrphan(
  { client, jobs, pods }: { client: Client; jobs: Informer<Job>; pods: Informer<Pod> },
  key: ObjectKey,
): Promise<ReconcileResult> {
  const pod = pods.get(key);
  if (pod === undefined || !isAbandoned(pod, jobs)) return settled;
  const body = {
    metadata: { uid: pod.metadata.uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] },
  };
  await client.patch(podType, key, { type: 'strategic', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  return settled;
}
