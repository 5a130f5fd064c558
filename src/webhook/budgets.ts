import { ConversionError, fromV1alpha1 } from '../api/kruise/conversion.ts';
import type { PodUnavailableBudget } from '../api/kruise/types.ts';
import {
  validateNoConflict,
  validatePodUnavailableBudget,
  validatePodUnavailableBudgetUpdate,
  warningsOf,
} from '../api/kruise/validation.ts';
import { type BudgetIndexes, closedGate, type UnavailabilityGates } from '../decisions/unavailability/index.ts';
import { refuse, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks PodUnavailableBudgets as they are written, with what a schema cannot say. */
export function reviewBudget(
  { gates, indexes }: { indexes: BudgetIndexes; gates: UnavailabilityGates },
  request: ReviewRequest,
): ReviewResponse {
  let budget = request.object as PodUnavailableBudget;
  const old = request.oldObject as PodUnavailableBudget | null | undefined;
  try {
    if (request.resource.version === 'v1alpha1') budget = fromV1alpha1(budget);
  } catch (error) {
    if (error instanceof ConversionError) return refuse({ code: 400, reason: 'BadRequest', message: error.message });
    throw error;
  }
  const closed = closedGate(budget.spec ?? {}, gates);
  if (closed !== undefined) return refuse({ code: 400, reason: 'BadRequest', message: closed });
  const issues = old ? validatePodUnavailableBudgetUpdate(budget, old) : validatePodUnavailableBudget(budget);
  if (issues.length === 0) {
    const others = [...indexes.of(request.namespace ?? '').budgets()].map((entry) => entry.budget);
    issues.push(...validateNoConflict(budget, others));
  }
  if (issues.length === 0) return { allowed: true, warnings: warningsOf(budget) };
  return refuseInvalid(issues, { code: 400, reason: 'BadRequest' });
}
