/** What is written down about an eviction that may pass, and what it is pinned to. */
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { GrantKind, LedgerGrant } from '../api/quorate/types.ts';
import { type BudgetView, type EvictionVerdict, exemptionOf, type CountedPod } from '../decisions/disruption/index.ts';
import { MAX_GRANTS } from './ledger-grants.ts';
import { canNameReturn, type Preconditions } from './pins.ts';

export function kindOf(pod: CountedPod, verdict: Extract<EvictionVerdict, { allowed: true }>): GrantKind {
  const exemption = exemptionOf(pod);
  if (exemption !== undefined) return exemption === 'PodPending' ? 'Pending' : 'Ended';
  if (!pod.ready) return 'Unready';
  return verdict.charge?.cost === 1 ? 'Charged' : 'Free';
}

/** The budget does not hold, and the pod could be what repairs it: then only the pod as it is may go. */
export function needsVersion(kind: GrantKind, { budget, desired, live }: BudgetView): boolean {
  return live < desired && (kind === 'Pending' || (kind === 'Unready' && budget.alwaysAllow));
}

/** Where the status of budgets is ours, Kubernetes must be able to pass what is granted here; it asks nobody about others. */
export function hasRoom({ metadata, status }: PodDisruptionBudget, kind: GrantKind, granted: number): boolean {
  if (kind === 'Pending' || kind === 'Ended') return true;
  const noted = Object.keys(status?.disruptedPods ?? {}).length;
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && noted + granted < MAX_GRANTS;
}

export interface Terms {
  readonly pod: CountedPod;
  readonly kind: GrantKind;
  readonly cost: 0 | 1;
  readonly now: number;
  readonly by: string;
  /** The pod as it was read, where the eviction is pinned to its version. */
  readonly fresh: Pod | undefined;
  /** What the client asked for itself. */
  readonly given: Preconditions;
}

export function termsOf({ by, cost, fresh, given, kind, now, pod }: Terms): { grant: LedgerGrant; pin: Preconditions } {
  const pin: Preconditions = {
    uid: canNameReturn(pod.owner) ? pod.uid : undefined,
    resourceVersion: fresh?.metadata.resourceVersion,
  };
  const resourceVersion = given.resourceVersion ?? pin.resourceVersion;
  const uid = given.uid ?? pin.uid;
  const pinned: Pick<LedgerGrant, 'pinned' | 'resourceVersion'> = resourceVersion
    ? { pinned: 'version', resourceVersion }
    : { ...(uid && { pinned: 'uid' }) };
  const { name, uid: podUid } = pod;
  return { grant: { name, uid: podUid, at: new Date(now).toISOString(), cost, kind, ...pinned, by }, pin };
}
