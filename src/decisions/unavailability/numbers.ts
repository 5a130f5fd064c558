import type { PodUnavailableBudgetSpec } from '../../api/kruise/types.ts';
import { scaledValue } from '../../machinery/values/index.ts';

export type BoundField = 'maxUnavailable' | 'minAvailable';

export interface Desired {
  readonly desired: number;
  /** Which of the two fields asks for the larger number. */
  readonly constraint: BoundField;
}

type Budget = Pick<PodUnavailableBudgetSpec, 'maxUnavailable' | 'minAvailable' | 'podGroupPolicy'>;

/**
 * How many of `expected` must stay available. Percentages round up. A budget over groups may set both fields, and the
 * larger demand wins; over pods `maxUnavailable` rules alone.
 */
export function computeDesired(spec: Budget, expected: number): Desired {
  const byMax =
    spec.maxUnavailable === undefined
      ? undefined
      : Math.max(0, expected - scaledValue(spec.maxUnavailable, expected, 'up'));
  const byMin = spec.minAvailable === undefined ? undefined : scaledValue(spec.minAvailable, expected, 'up');
  if (spec.podGroupPolicy === undefined && byMax !== undefined) return { desired: byMax, constraint: 'maxUnavailable' };
  return (byMax ?? 0) >= (byMin ?? 0) && byMax !== undefined
    ? { desired: byMax, constraint: 'maxUnavailable' }
    : { desired: byMin ?? 0, constraint: byMin === undefined ? 'maxUnavailable' : 'minAvailable' };
}

export interface UnavailabilityNumbers extends Desired {
  readonly total: number;
  readonly available: number;
  readonly allowed: number;
}

export function computeNumbers(
  spec: Budget,
  { expected, available }: { expected: number; available: number },
): UnavailabilityNumbers {
  const { desired, constraint } = computeDesired(spec, expected);
  return { total: expected, available, desired, constraint, allowed: Math.max(0, available - desired) };
}
