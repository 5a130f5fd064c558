import type { Pod } from '../api/generated/core-v1.ts';
import { podType } from '../api/resource-types.ts';
import { type Client, isNotFound } from '../machinery/runtime/index.ts';
import { isAsNewAs } from '../machinery/values/index.ts';

/** What a review's claim about a pod is worth. */
export type Proof =
  /** It is there, as it is stored. */
  | { readonly found: 'Same'; readonly pod: Pod }
  | { readonly found: 'Gone' }
  /** Of that name there is another, or none as new as claimed. */
  | { readonly found: 'Other' };

/**
 * Proves, before anything is charged, that the pod of a review exists: with that UID, and at least as new as the review
 * has it. Our own copy is proof enough; where it is older, or knows another pod, the API server is asked.
 */
export async function provePod(client: Client, claimed: Pod, known: Pod | undefined): Promise<Proof> {
  const { name = '', namespace } = claimed.metadata;
  if (known !== undefined && isClaimed(known, claimed)) return { found: 'Same', pod: known };
  try {
    const pod = await client.get(podType, { namespace, name });
    return isClaimed(pod, claimed) ? { found: 'Same', pod } : { found: 'Other' };
  } catch (error) {
    if (isNotFound(error)) return { found: 'Gone' };
    throw error;
  }
}

function isClaimed({ metadata: stored }: Pod, { metadata: claimed }: Pod): boolean {
  if (!claimed.uid || stored.uid !== claimed.uid) return false;
  return isAsNewAs(stored.resourceVersion ?? '', claimed.resourceVersion ?? '');
}
