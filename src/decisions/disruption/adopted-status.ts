/** What becomes of a status that somebody else writes into a budget over groups. */
import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { semanticEqual } from '../../machinery/values/index.ts';
import { disruptionAllowedCondition, setCondition } from './conditions.ts';
import type { Mode } from './mode.ts';
import type { Publication } from './publication.ts';
import { COUNTS_GROUPS, isMarked, publishedStatus, withoutMarker } from './published-status.ts';
import { ownersOfNumbers } from './status-writers.ts';

export interface ProposedStatus {
  /** The budget as it is stored, and as somebody wants it to be. */
  readonly old: PodDisruptionBudget;
  readonly proposed: PodDisruptionBudget;
}

export interface Known {
  readonly mode: Pick<Mode, 'unit' | 'reason'>;
  /** Undefined where what is known here is not new enough, or another version publishes. */
  readonly publication: Publication | undefined;
  /** The generation that the ledger answers. */
  readonly observedGeneration: number | undefined;
}

export type Adoption = 'unchanged' | 'kept' | 'barrier' | 'rewritten';

export interface AdoptedStatus {
  readonly result: Adoption;
  readonly status: PodDisruptionBudgetStatus;
}

/**
 * Puts our numbers in the place of others. Rules, first match wins:
 *  1. it counts pods: the numbers are not ours; a marker says so
 *  2. what is known here is not new enough: what is stored stays
 *  3. its spec changed and the ledger does not answer that yet: what is stored stays, and evictions are held back
 *  4. otherwise our numbers
 * What the API server noted about evictions stays as proposed. Conditions go into the stored list, so that two equal
 * answers make the same object, which is not written again.
 */
export function adoptStatus({ old, proposed }: ProposedStatus, known: Known, now: number): AdoptedStatus {
  const { mode, observedGeneration, publication } = known;
  if (mode.unit === 'Pod') {
    const status = proposed.status ?? {};
    if (!isMarked(old) && !isMarked(proposed)) return { result: 'unchanged', status };
    const conditions = [...withoutMarker(status.conditions ?? [], mode.reason, now)];
    return { result: 'unchanged', status: { ...status, conditions } };
  }
  const generation = proposed.metadata.generation ?? 0;
  const isHeldBack = (old.status?.observedGeneration ?? 0) < generation;
  if (isHeldBack && observedGeneration !== generation) {
    return { result: 'barrier', status: keptStatus({ old, proposed }, now) };
  }
  if (publication === undefined) return { result: 'kept', status: keptStatus({ old, proposed }, now) };
  const base = { ...proposed.status, conditions: mergedConditions(old, proposed) };
  return { result: 'rewritten', status: publishedStatus({ ...proposed, status: base }, publication, now) };
}

/** Numbers and marker as they are stored; where they never were ours nothing may go, and evictions are held back. */
export function keptStatus({ old, proposed }: ProposedStatus, now = 0): PodDisruptionBudgetStatus {
  const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, observedGeneration } = old.status ?? {};
  const merged = mergedConditions(old, proposed);
  if (isMarked(old)) {
    const ours = (old.status?.conditions ?? []).filter(({ type }) => OURS.has(type));
    const conditions = merged.map((one) => ours.find(({ type }) => type === one.type) ?? one);
    return {
      ...proposed.status,
      currentHealthy,
      desiredHealthy,
      disruptionsAllowed,
      expectedPods,
      observedGeneration,
      conditions,
    };
  }
  const conditions = setCondition(merged, disruptionAllowedCondition(0, observedGeneration ?? 0), now);
  return { ...proposed.status, disruptionsAllowed: 0, observedGeneration, conditions };
}

const OURS: ReadonlySet<string> = new Set(['DisruptionAllowed', COUNTS_GROUPS]);

/** The stored conditions in their order with what is proposed for each, and those that only the proposal has. */
function mergedConditions(old: PodDisruptionBudget, proposed: PodDisruptionBudget): Condition[] {
  const stored = old.status?.conditions ?? [];
  const wanted = proposed.status?.conditions ?? [];
  const merged = stored.map((one) => {
    const other = wanted.find(({ type }) => type === one.type);
    if (other === undefined || OURS.has(one.type)) return one;
    return other.status === one.status ? { ...other, lastTransitionTime: one.lastTransitionTime } : other;
  });
  return [...merged, ...wanted.filter(({ type }) => !stored.some((one) => one.type === type))];
}

/**
 * Whether nothing of a budget would change but the records of who wrote what: their order, and who owns values that stay.
 * The API server makes them from the proposal, before our numbers are put in: it sorts writers by the second of their
 * last write, and gives a condition's time to whoever proposes another. Such a change would be written, for most budgets
 * once when kube-controller-manager starts. A new owner of numbers is a change worth writing: it tells who counts.
 */
export function changesRecordsOnly({ old, proposed }: ProposedStatus, status: PodDisruptionBudgetStatus): boolean {
  const { managedFields: before = [], ...metadata } = old.metadata;
  const { managedFields: after = [], ...proposedMetadata } = proposed.metadata;
  if (before.length === 0 || semanticEqual(before, after)) return false;
  return (
    semanticEqual(ownersOfNumbers(old), ownersOfNumbers(proposed)) &&
    semanticEqual({ metadata, status: old.status }, { metadata: proposedMetadata, status })
  );
}
