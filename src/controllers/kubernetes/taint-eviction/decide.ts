import { tolerates } from '../../../api/core/toleration.ts';
import type { Pod, Taint } from '../../../api/generated/core-v1.ts';

export type TaintVerdict =
  | { readonly reason: 'NoTaints' | 'ToleratedForever' }
  | { readonly reason: 'NotTolerated' }
  /** The pod must go this long after its node was first seen tainted. */
  | { readonly reason: 'ToleratedForAWhile'; readonly seconds: number };

/** Decides how long a pod may stay on a node with these NoExecute taints. The shortest toleration in use counts. */
export function decideTaintEviction({ spec }: Pod, taints: readonly Taint[]): TaintVerdict {
  if (taints.length === 0) return { reason: 'NoTaints' };
  let seconds = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const used = spec?.tolerations?.find((toleration) => tolerates(toleration, taint));
    if (used === undefined) return { reason: 'NotTolerated' };
    seconds = Math.min(seconds, used.tolerationSeconds ?? seconds);
  }
  if (seconds === Number.POSITIVE_INFINITY) return { reason: 'ToleratedForever' };
  return seconds <= 0 ? { reason: 'NotTolerated' } : { reason: 'ToleratedForAWhile', seconds };
}
