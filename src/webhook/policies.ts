import type { DisruptionPolicy } from '../api/quorate/disruption-policy.ts';
import { validateDisruptionPolicy } from '../api/quorate/disruption-policy-validation.ts';
import { allow, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks DisruptionPolicies as they are written. */
export function reviewDisruptionPolicy({ object }: ReviewRequest): ReviewResponse {
  const issues = validateDisruptionPolicy(object as DisruptionPolicy);
  return issues.length > 0 ? refuseInvalid(issues) : allow;
}
