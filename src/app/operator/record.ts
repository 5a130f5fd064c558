import type { HistoryOptions } from '../../controllers/quorate/index.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { AnswerQueue } from '../../decisions/history/index.ts';
import type { UnavailabilityFeed } from '../../decisions/unavailability/index.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { type ReviewHandler, telling } from '../../webhook/index.ts';
import type { OperatorOptions } from './options.ts';

const EVERY_MS = 5000;
const BOUNDS = { days: 14, bytes: 64 * 1024 * 1024 };
/** Reviews of what may take pods away. */
const TOLD = new Set(['/validate-eviction', '/validate-pods', '/validate-groups']);

/** How a replica keeps the record of disruptions. */
export function historyOptions(
  { history = BOUNDS, identity, namespace }: OperatorOptions,
  { answers, index }: { readonly answers: AnswerQueue; readonly index: DisruptionIndex },
): HistoryOptions {
  const ours = `system:serviceaccount:${namespace}:quorate`;
  return {
    answers,
    index,
    namespace,
    bounds: history,
    everyMs: EVERY_MS,
    replica: identity,
    isOurs: (who) => who === ours,
  };
}

interface Told {
  readonly answers: AnswerQueue;
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  readonly feed: UnavailabilityFeed;
}

/** Has the record hear what is answered to those who ask for pods to go. */
export function tellingAnswers(
  { answers, clock, feed, index }: Told,
  handlers: readonly (readonly [string, ReviewHandler])[],
): Map<string, ReviewHandler> {
  const teller = {
    answers,
    now: () => clock.now(),
    uidOf: (namespace: string, name: string) => index.pod(namespace, name)?.uid,
    judgesDeletes: (namespace: string, name: string) => feed.indexes.of(namespace).judging(name).length > 0,
  };
  return new Map(handlers.map(([path, handle]) => [path, TOLD.has(path) ? telling(teller, handle) : handle]));
}
