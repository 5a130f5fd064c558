import type { Pod } from '../../api/generated/core-v1.ts';
import type { EvictionGuard } from '../eviction/index.ts';
import { type Guarding, judgeRequest } from './judge-request.ts';

/** Asks PodUnavailableBudgets about evictions, in the eviction's own transaction. */
export function unavailabilityGuard(guarding: Guarding): EvictionGuard {
  return {
    name: 'PodUnavailableBudget',
    judge({ dryRun, namespace, pod, user }, transaction) {
      const { username } = user;
      const request = { namespace, pod: pod as Pod, operation: 'EVICT', dryRun, username } as const;
      return judgeRequest(guarding, request, transaction);
    },
  };
}
