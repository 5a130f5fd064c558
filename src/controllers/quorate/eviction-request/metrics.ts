import type { EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { FAILED, isTrue, TARGET_EVICTED } from '../../../api/lifecycle/index.ts';
import type { Informer, Metrics } from '../../../machinery/runtime/index.ts';

const STATES = ['Pending', 'Progressing', TARGET_EVICTED, FAILED] as const;

function stateOf({ status }: EvictionRequest): (typeof STATES)[number] {
  if (isTrue(status?.conditions, TARGET_EVICTED)) return TARGET_EVICTED;
  if (isTrue(status?.conditions, FAILED)) return FAILED;
  return status?.observedGeneration === undefined ? 'Pending' : 'Progressing';
}

export function countRequests(metrics: Metrics, requests: Informer<EvictionRequest>): void {
  metrics.countedGauge('quorate_eviction_requests', () => {
    const counts = new Map<string, number>(STATES.map((state) => [state, 0]));
    for (const request of requests.list()) {
      const state = stateOf(request);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return [...counts].map(([state, count]) => [{ state }, count]);
  });
}
