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
  const seconds = metrics.histogram('quorate_review_seconds');
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
  const counter = metrics.counter('quorate_reviews_rejected_total');
  return (reason) => counter.inc({ reason });
}

export function countAdopted(metrics: Metrics): (result: Adoption) => void {
  const counter = metrics.counter('quorate_status_reviews_total');
  return (result) => counter.inc({ result });
}
