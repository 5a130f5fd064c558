/** How a changed replica count spreads over the ReplicaSets of a Deployment. Pure. */
import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { countAnnotation, DESIRED_REPLICAS, MAX_REPLICAS } from './annotations.ts';
import { isRolling, limitsOf, replicasOf } from './limits.ts';
import type { Resize } from './plan-rolling.ts';
import { allOf, availableOf, compareAge, isActive, type ReplicaSets, sizeOf, sum } from './replica-sets.ts';

/** True when the Deployment's size changed since some active ReplicaSet was last scaled for it. */
export function isScalingEvent(deployment: Deployment, sets: ReplicaSets): boolean {
  return allOf(sets)
    .filter(isActive)
    .some((replicaSet) => {
      const desired = countAnnotation(replicaSet, DESIRED_REPLICAS);
      return desired !== undefined && desired !== replicasOf(deployment);
    });
}

export interface ScalePlan {
  readonly resizes: readonly Resize[];
  /** Write the sizes a Deployment had in mind even where the size itself stays. */
  readonly rewriteAnnotations: boolean;
}

/**
 * Rules, first match wins:
 *  1. at most one active ReplicaSet: it (else the new, else the newest old one) gets the whole size
 *  2. the new ReplicaSet has all its pods available: all others go to 0
 *  3. a rolling update is under way: everyone keeps its share
 *  4. Recreate: nothing
 */
export function planScale(deployment: Deployment, sets: ReplicaSets): ScalePlan {
  const replicas = replicasOf(deployment);
  const active = allOf(sets).filter(isActive);
  if (active.length <= 1) {
    const only = active[0] ?? sets.current ?? sets.old.toSorted(compareAge).at(-1);
    const resizes = only === undefined || sizeOf(only) === replicas ? [] : [{ replicaSet: only, size: replicas }];
    return { resizes, rewriteAnnotations: false };
  }
  if (isSaturated(deployment, sets.current)) {
    const others = active.filter((replicaSet) => replicaSet !== sets.current);
    return { resizes: others.map((replicaSet) => ({ replicaSet, size: 0 })), rewriteAnnotations: false };
  }
  if (!isRolling(deployment)) return { resizes: [], rewriteAnnotations: false };
  return { resizes: planShares(deployment, active), rewriteAnnotations: true };
}

function isSaturated(deployment: Deployment, current: ReplicaSet | undefined): boolean {
  const replicas = replicasOf(deployment);
  return (
    current !== undefined &&
    sizeOf(current) === replicas &&
    countAnnotation(current, DESIRED_REPLICAS) === replicas &&
    availableOf(current) === replicas
  );
}

/** Larger first; among equals the newer grows first and the older shrinks first. The first takes what rounding left. */
function planShares(deployment: Deployment, active: readonly ReplicaSet[]): Resize[] {
  const replicas = replicasOf(deployment);
  const allowed = replicas === 0 ? 0 : replicas + limitsOf(deployment).surge;
  const toAdd = allowed - sum(active, sizeOf);
  const ageSign = toAdd > 0 ? -1 : 1;
  const order = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || ageSign * compareAge(a, b));
  let added = 0;
  const resizes = order.map((replicaSet) => {
    const share = toAdd === 0 || added === toAdd ? 0 : clip(fractionOf(deployment, replicaSet), toAdd - added);
    added += share;
    return { replicaSet, size: sizeOf(replicaSet) + share };
  });
  const [first, ...rest] = resizes as [Resize, ...Resize[]];
  return [{ ...first, size: Math.max(first.size + toAdd - added, 0) }, ...rest];
}

const clip = (fraction: number, allowed: number): number =>
  allowed > 0 ? Math.min(fraction, allowed) : Math.max(fraction, allowed);

/** What the ReplicaSet gains or loses when it keeps its share of the Deployment's largest size. */
function fractionOf(deployment: Deployment, replicaSet: ReplicaSet): number {
  const replicas = replicasOf(deployment);
  const size = sizeOf(replicaSet);
  if (replicas === 0) return -size;
  const before = countAnnotation(replicaSet, MAX_REPLICAS) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((size * (replicas + limitsOf(deployment).surge)) / before) - size;
}
