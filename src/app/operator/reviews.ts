/** What reviews cost and what became of them, counted. */
import type { Adoption } from '../../decisions/disruption/index.ts';
import type { Clock, Metrics } from '../../machinery/runtime/index.ts';
import type { RejectedReason, ReviewHandler } from '../../webhook/index.ts';

/** Counts and times every review. */
export function measured(
  handlers: ReadonlyMap<string, ReviewHandler>,
  metrics: Metrics,
  clock: Clock,
): Map<string, ReviewHandler> {
  const seconds = metrics.histogram('quorate_review_seconds', 'Time to answer an admission review', {
    labelNames: ['path', 'allowed'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
  });
  return new Map(
    [...handlers].map(([path, handler]): [string, ReviewHandler] => [
      path,
      async (request, signal) => {
        const start = clock.now();
        const response = await handler(request, signal);
        seconds.observe({ path, allowed: String(response.allowed) }, (clock.now() - start) / 1000);
        return response;
      },
    ]),
  );
}

export function countRejected(metrics: Metrics): (reason: RejectedReason) => void {
  const counter = metrics.counter(
    'quorate_reviews_rejected_total',
    'Requests to the webhook that were turned away before anything was decided',
    ['reason'],
  );
  return (reason) => counter.inc({ reason });
}

export function countAdopted(metrics: Metrics): (result: Adoption) => void {
  const counter = metrics.counter(
    'quorate_status_reviews_total',
    'Statuses that others wrote into budgets, by what became of them',
    ['result'],
  );
  return (result) => counter.inc({ result });
}
