import type {
  Eviction,
  EvictionRequest,
  EvictionRequestStatus,
  EvictionStatus,
} from '../../api/generated/lifecycle-v1alpha1.ts';
import { DEFAULT_RESPONDER, isTrue, TARGET_EVICTED } from '../../api/lifecycle/index.ts';
import { semanticEqual } from '../../machinery/values/index.ts';
import { copyConditions, isOver, type EvictionOutcome, withOutcome } from './conditions.ts';
import type { EvictionPlan, TargetFacts } from './facts.ts';
import { changedMetadata, isActive, isSeen, nextMetadata, nextName, nextRequesters, numberOf } from './requesters.ts';
import { activeTurn, deadlineOf, firstTurns, leave, nextTurn, report, timeFor, type Turns, turnsOf } from './turns.ts';

const NOTHING: EvictionPlan = { statuses: [], requests: [], evict: false, notify: false, again: false };

/**
 * What becomes of one target. First match wins:
 *  1. an Eviction of it is under way: it goes on; others of it are let go of
 *  2. the last one succeeded, or none of the requests is new: they are told how it ended
 *  3. the pod is not there: each request is invalid
 *  4. somebody asks: a new Eviction
 *  5. nobody does: the requests are told so
 */
export function decideEviction(facts: TargetFacts): EvictionPlan {
  const { evictions, now, pod, requests, target } = facts;
  const ordered = [...evictions].sort((a, b) => order(a, target.name) - order(b, target.name));
  const [current, ...doubled] = ordered.filter((one) => !isOver(one));
  if (current !== undefined) return withDoubled(goOn(facts, current), doubled, now);
  const last = ordered.at(-1);
  const isNew = requests.some((request) => isActive(request) && !isSeen(request));
  if (last !== undefined && (!isNew || isTrue(last.status?.conditions, TARGET_EVICTED))) {
    return { ...NOTHING, requests: tellAll(requests, last.status ?? {}) };
  }
  if (pod === undefined) return { ...NOTHING, requests: end(requests, 'invalid', now) };
  if (!requests.some(isActive)) return { ...NOTHING, requests: end(requests, 'noRequesters', now) };
  const { name, namespace, uid } = target;
  const metadata = { name: nextName(name, facts.names), namespace };
  const status = { requesters: nextRequesters(requests) };
  const create = {
    metadata: { ...metadata, ...nextMetadata({ metadata, status }, requests) },
    spec: { target: { pod: { name, uid } } },
  };
  return { ...NOTHING, create, again: true };
}

/** Those of other makers come last. */
const order = ({ metadata }: Eviction, pod: string): number =>
  numberOf(metadata.name ?? '', pod) ?? Number.MAX_SAFE_INTEGER;

function goOn(facts: TargetFacts, eviction: Eviction): EvictionPlan {
  const { now, requests } = facts;
  const { outcome, turns, wait } = decideTurns(facts, eviction);
  const status: EvictionStatus = {
    ...eviction.status,
    observedGeneration: Math.max(eviction.metadata.generation ?? 1, eviction.status?.observedGeneration ?? 1),
    requesters: nextRequesters(requests, eviction.status?.requesters),
    conditions: withOutcome(eviction.status?.conditions, outcome, { generation: eviction.metadata.generation, now }),
    ...(turns.targetResponders.length > 0 && {
      targetResponders: [...turns.targetResponders],
      responders: [...turns.responders],
    }),
  };
  const next = { ...eviction, status };
  const changed = !semanticEqual(status, eviction.status ?? {});
  const active = activeTurn(turns);
  const again = wait === true;
  const isWaiting = outcome === 'awaiting' && !again;
  return {
    statuses: changed ? [{ eviction, status }] : [],
    metadata: changedMetadata(next, requests),
    requests: tellAll(requests, status),
    current: next,
    evict: isWaiting && active?.name === DEFAULT_RESPONDER,
    notify: isWaiting && active !== undefined && active.name === facts.pod?.noticeResponder,
    again,
    lookAgainAt: outcome === 'awaiting' && active !== undefined ? deadlineOf(active) : undefined,
  };
}

interface Turned {
  readonly turns: Turns;
  readonly outcome: EvictionOutcome;
  /** One more write has to come before it is over. */
  readonly wait?: true;
}

/**
 * Whose turn it is. First match wins:
 *  1. the pod is gone or finished: over. What the default responder does is done with that, and it says so in a write before
 *  2. nobody asks any more: over, and the active one is to stop
 *  3. nobody had a turn yet: the first
 *  4. the active one is done, or silent for too long: the next, or over
 *  5. it goes on
 */
function decideTurns({ now, pod, requests }: TargetFacts, { status = {} }: Eviction): Turned {
  const isFirst = (status.targetResponders ?? []).length === 0;
  const turns = isFirst && pod !== undefined ? firstTurns(pod.responders, pod.noticeResponder) : turnsOf(status);
  const active = activeTurn(turns);
  if (pod === undefined || pod.finished) {
    const isOurs = active?.name === DEFAULT_RESPONDER;
    if (active !== undefined && isOurs && active.report.completionTime === undefined) {
      const completionTime = timeFor(active.report, now);
      return { turns: report(turns, active.name, { completionTime }), outcome: 'awaiting', wait: true };
    }
    const outcome = pod === undefined ? 'deleted' : 'terminal';
    const left = active?.report.completionTime === undefined ? 'Interrupted' : 'Completed';
    return { turns: leave(turns, left), outcome };
  }
  if (!requests.some(isActive)) return { turns: leave(turns, 'Canceled'), outcome: 'noRequesters' };
  if (active === undefined) {
    const next = nextTurn(turns, now);
    const begins = isFirst && next !== undefined;
    return begins ? { turns: next, outcome: 'awaiting' } : { turns, outcome: 'noFurther' };
  }
  const deadline = deadlineOf(active);
  const isDone = active.report.completionTime !== undefined;
  if (!isDone && (deadline === undefined || now < deadline)) return { turns, outcome: 'awaiting' };
  const left = leave(turns, isDone ? 'Completed' : 'Interrupted');
  const next = nextTurn(left, now);
  return next === undefined ? { turns: left, outcome: 'noFurther' } : { turns: next, outcome: 'awaiting' };
}

/** Only one is carried out at a time; the others end as if nobody asked for them. */
function withDoubled(plan: EvictionPlan, doubled: readonly Eviction[], now: number): EvictionPlan {
  const ended = doubled.map((eviction) => {
    const { status = {} } = eviction;
    const turns = leave(turnsOf(status), 'Canceled');
    const conditions = withOutcome(status.conditions, 'noRequesters', {
      generation: eviction.metadata.generation,
      now,
    });
    const lists = turns.targetResponders.length > 0 && { targetResponders: [...turns.targetResponders] };
    const observedGeneration = eviction.metadata.generation ?? 1;
    return { eviction, status: { ...status, observedGeneration, conditions, ...lists } };
  });
  return { ...plan, statuses: [...plan.statuses, ...ended] };
}

type Told = EvictionPlan['requests'];

/** The conditions of the Eviction go to all its requests. */
function tellAll(requests: readonly EvictionRequest[], { conditions }: EvictionStatus): Told {
  return changes(requests, (request) =>
    copyConditions(request.status?.conditions, conditions, request.metadata.generation),
  );
}

function end(requests: readonly EvictionRequest[], outcome: EvictionOutcome, now: number): Told {
  return changes(requests, ({ metadata: { generation }, status }) =>
    withOutcome(status?.conditions, outcome, { generation, now }),
  );
}

function changes(
  requests: readonly EvictionRequest[],
  conditionsOf: (request: EvictionRequest) => EvictionRequestStatus['conditions'],
): Told {
  return requests.flatMap((request) => {
    const observedGeneration = Math.max(request.metadata.generation ?? 1, request.status?.observedGeneration ?? 1);
    const status = { ...request.status, observedGeneration, conditions: conditionsOf(request) };
    return semanticEqual(status, request.status ?? {}) ? [] : [{ request, status }];
  });
}
