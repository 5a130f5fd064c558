import { podType } from '../../api/resource-types.ts';
import { ApiError, isNamespaceTerminating } from './api-error.ts';
import type { Client } from './client.ts';

export type EvictAnswer =
  | { readonly kind: 'evicted' }
  | { readonly kind: 'gone' }
  /** Asking again later may help. */
  | { readonly kind: 'wait'; readonly text: string }
  /** It will not. */
  | { readonly kind: 'failed'; readonly text: string };

/** Asks the API server to evict a pod and says what its answer means for a drain. */
export async function evictPod(
  client: Client,
  pod: { readonly namespace: string; readonly name: string },
  gracePeriodSeconds?: number,
  /** `uid`: that very pod, and no other of its name. */
  { dryRun = false, uid }: { dryRun?: boolean; uid?: string | undefined } = {},
): Promise<EvictAnswer> {
  const deleteOptions = {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ['All'] }),
    ...(uid !== undefined && { preconditions: { uid } }),
  };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod.name, namespace: pod.namespace },
    ...(Object.keys(deleteOptions).length > 0 && { deleteOptions }),
  };
  try {
    await client.createSubresource(podType, pod, 'eviction', body);
    return { kind: 'evicted' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 404 || (uid !== undefined && error.code === 409)) return { kind: 'gone' };
    const text = error.causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? error.message;
    return error.code === 429 || isNamespaceTerminating(error) ? { kind: 'wait', text } : { kind: 'failed', text };
  }
}
