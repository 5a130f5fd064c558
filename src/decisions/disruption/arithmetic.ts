import { scaledValue } from '../../machinery/values/index.ts';
import type { BudgetSpec } from './budget-facts.ts';

/**
 * How many must stay healthy when `expected` should exist. Both percentages round up, so a maxUnavailable percentage
 * rounds in favour of more disruption. maxUnavailable wins where an old object has both. Throws on text that is no
 * percentage.
 */
export function computeDesired({ maxUnavailable, minAvailable }: BudgetSpec, expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(maxUnavailable, expected, 'up'));
  return minAvailable === undefined ? 0 : scaledValue(minAvailable, expected, 'up');
}

/** Nothing may go while nothing is expected: that protects the first pods of a budget that matched none so far. */
export function computeAllowed(healthy: number, desired: number, expected: number): number {
  return expected <= 0 ? 0 : Math.max(0, healthy - desired);
}

/** An integer minAvailable needs no controller to say how many pods should exist. */
export function needsExpectedScale({ maxUnavailable, minAvailable }: BudgetSpec): boolean {
  return maxUnavailable !== undefined || typeof minAvailable === 'string';
}
