import type { Pod } from '../../api/generated/core-v1.ts';
import type { LedgerGrant } from '../../api/quorate/types.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { EXECUTION_MS, GRANT_MS } from './claims.ts';

export interface KeptGrants {
  readonly kept: LedgerGrant[];
  /** Given so long ago that they are over, if the pods that this was asked about are those of now. */
  readonly overdue: readonly LedgerGrant[];
  readonly recheckInMs: number | undefined;
}

/**
 * Keeps of the grants those that may still be carried out. A grant is over when
 *  1. its pod is seen going (one that was finished or going when it was granted: when it is seen gone)
 *  2. its pod is gone: no pod has the name, or another has it and the eviction is pinned
 *  3. it is pinned to a version of the pod, and the pod has another one that the eviction did not make
 *  4. it was given longer ago than any API server works on a request, and counts twice as long to be sure
 */
export function keepGrants(
  grants: readonly LedgerGrant[],
  podOf: (name: string) => Pod | undefined,
  now: number,
): KeptGrants {
  const kept: LedgerGrant[] = [];
  const overdue: LedgerGrant[] = [];
  let recheckInMs: number | undefined;
  const look = (inMs: number): void => {
    recheckInMs = Math.min(recheckInMs ?? inMs, inMs);
  };
  for (const grant of grants) {
    const givenMs = parseTime(grant.at) ?? 0;
    const pod = podOf(grant.name);
    const isThatPod = pod?.metadata.uid === grant.uid;
    if (!isThatPod) {
      const mayHitAnother = pod !== undefined && grant.pinned === undefined && givenMs + EXECUTION_MS > now;
      if (!mayHitAnother) continue;
      look(givenMs + EXECUTION_MS - now);
    } else if (isOver(grant, pod)) continue;
    const leftMs = (parseTime(grant.until) ?? givenMs) + GRANT_MS - now;
    if (leftMs < 0) {
      overdue.push(grant);
      continue;
    }
    // From the future: whoever gave it has a clock of its own, and counts from when it was seen.
    kept.push(givenMs > now ? { ...grant, at: new Date(now).toISOString() } : grant);
    look(leftMs);
  }
  return { kept, overdue, recheckInMs };
}

function isOver({ at, kind, pinned, resourceVersion }: LedgerGrant, { metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return kind !== 'Ended';
  if (pinned !== 'version' || resourceVersion === undefined) return false;
  if (metadata.resourceVersion === resourceVersion) return false;
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const givenMs = parseTime(at) ?? 0;
  // Times of conditions are whole seconds.
  const isEvictions = target?.status === 'True' && (parseTime(target.lastTransitionTime) ?? 0) + 1000 > givenMs;
  return !isEvictions;
}

/** Whether the pod of a grant is still there: then a grant that is overdue was never carried out. */
export function isStillThere({ kind, uid }: LedgerGrant, pod: Pod | undefined): boolean {
  return pod?.metadata.uid === uid && (kind === 'Ended' || pod.metadata.deletionTimestamp === undefined);
}
