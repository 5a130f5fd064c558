/** What is asked of the API server where our copies may be behind. */
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { podDisruptionBudgetType, podType } from '../api/resource-types.ts';
import { type DisruptionIndex, type CountedPod, readPod } from '../decisions/disruption/index.ts';
import { type Client, existing } from '../machinery/runtime/index.ts';
import { hasSeen, type NamespaceFollower } from './pods-seen.ts';

interface PodKey {
  readonly namespace: string;
  readonly name: string;
}

type IndexedFollower = NamespaceFollower & { readonly index: DisruptionIndex };

/** Whether the pod that was read is the one that was judged, in everything that was judged. */
export function isAsRead(fresh: Pod | undefined, judged: CountedPod): boolean {
  if (fresh === undefined) return false;
  const { deletionTimestamp, phase, ready, uid } = readPod(fresh);
  const isSame = uid === judged.uid && phase === judged.phase && ready === judged.ready;
  return isSame && (deletionTimestamp === undefined) === (judged.deletionTimestamp === undefined);
}

/** The pod of this moment, once our copy is as new; undefined when it does not get there in time. */
export async function readPodNow(
  follower: IndexedFollower,
  key: PodKey,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const pod = await existing(follower.client.get(podType, key));
  if (pod === undefined) return undefined;
  const known = follower.index.pod(key.namespace, key.name);
  if (known !== undefined && isAsRead(pod, known)) return pod;
  return (await hasSeen(follower, pod.metadata.resourceVersion, signal)) ? pod : undefined;
}

/**
 * Finds out about a pod that the index does not know: it may be gone, which the API server will say itself, or so new
 * that our copy is behind.
 */
export async function lookForPod(
  follower: IndexedFollower,
  key: PodKey,
  signal: AbortSignal,
): Promise<'Absent' | 'Behind' | { readonly uid: string }> {
  const pod = await existing(follower.client.get(podType, key));
  if (pod === undefined) return 'Absent';
  const { resourceVersion, uid = '' } = pod.metadata;
  const knows = (): boolean => follower.index.pod(key.namespace, key.name)?.uid === uid;
  return knows() || ((await hasSeen(follower, resourceVersion, signal)) && knows()) ? { uid } : 'Behind';
}

export function readOwn(client: Client, namespace: string, name: string): Promise<PodDisruptionBudget | undefined> {
  return existing(client.get(podDisruptionBudgetType, { namespace, name }));
}
