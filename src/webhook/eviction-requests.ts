import type { Eviction, EvictionRequest } from '../api/generated/lifecycle-v1alpha1.ts';
import {
  evictionType,
  validateEviction,
  validateEvictionRequest,
  validateEvictionRequestStatus,
  validateEvictionStatus,
} from '../api/lifecycle/index.ts';
import type { Clock } from '../machinery/runtime/index.ts';
import type { Issue } from '../machinery/values/index.ts';
import { allow, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks EvictionRequests and Evictions of our own definitions as they are written: the rules are those of Kubernetes. */
export function reviewEvictionRequest(clock: Pick<Clock, 'now'>, review: ReviewRequest): ReviewResponse {
  const issues = issuesOf(review, clock.now());
  return issues.length > 0 ? refuseInvalid(issues) : allow;
}

function issuesOf({ object, oldObject, resource, subResource }: ReviewRequest, now: number): Issue[] {
  const isStatus = subResource === 'status';
  if (resource.resource === evictionType.plural) {
    const [eviction, old] = [object, oldObject ?? undefined] as [Eviction, Eviction | undefined];
    return isStatus ? validateEvictionStatus(eviction, old ?? eviction, now) : validateEviction(eviction, old);
  }
  const [request, old] = [object, oldObject ?? undefined] as [EvictionRequest, EvictionRequest | undefined];
  return isStatus ? validateEvictionRequestStatus(request, old ?? request) : validateEvictionRequest(request, old);
}
