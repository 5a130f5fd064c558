import type { DisruptionIndex } from './disruption-index.ts';
import { LimitAccount } from './limits.ts';
import { exemptionOf } from './pod-facts.ts';
import { type FoundRoom, PROMISED_MS, type RoomAsk, type RoomJudge } from './room.ts';
import { decideTogether, type PodName, type Step } from './together.ts';
import { type BudgetView, decideEviction, type EvictionVerdict, type Grant } from './verdict.ts';

export interface JudgeOptions {
  /** Whether a node is cordoned; only asked for budgets that look ahead. */
  readonly isCordoned: (nodeName: string) => boolean;
  /** `false`: whoever asks looks for room itself. */
  readonly room?: false | undefined;
  /** Nodes that a drain is about to cordon. */
  readonly closing?: readonly string[] | undefined;
  /** A grant that a ledger has for this very pod is left out. */
  readonly again?: boolean;
}

/**
 * The decision every caller asks for: may this pod be evicted now. Budgets are asked first, then the limits of
 * DisruptionPolicies; both also where the other has refused. Undefined when there is no such pod.
 */
export function judgeEviction(
  index: DisruptionIndex,
  pod: PodName,
  now: number,
  judgement: JudgeOptions,
): EvictionVerdict | undefined {
  const verdict = judgeByBudgets(index, pod, now, judgement);
  return verdict && new LimitAccount(index, now).judge(pod, verdict);
}

/** What policies alone say: for callers that have asked the budgets already. `gone` as in `limitsOn`. */
export function judgeLimits(
  index: DisruptionIndex,
  pod: PodName,
  now: number,
  gone: (group: string) => number,
): EvictionVerdict {
  const agreed: Grant = { allowed: true, reason: 'WithinBudget', charge: undefined, pinned: false };
  return new LimitAccount(index, now, gone).judge(pod, agreed);
}

/**
 * A budget with the drain look-ahead refuses the first pod of a cordoned node already when its pods there could not all
 * go.
 */
function judgeByBudgets(
  index: DisruptionIndex,
  { name, namespace }: PodName,
  now: number,
  judgement: JudgeOptions,
): EvictionVerdict | undefined {
  const { again, isCordoned } = judgement;
  const question = index.ask(namespace, name, now, { again });
  if (question === undefined) return undefined;
  const decided = decideEviction(question);
  const { pod, views } = question;
  const view = views[0];
  if (!decided.allowed || view === undefined) return decided;
  const verdict = judgement.room === false ? decided : lookForRoom(index, decided, { pod, view, now, judgement });
  if (!verdict.allowed || !view.budget.lookahead) return verdict;
  if (exemptionOf(pod) !== undefined || pod.nodeName === '' || !isCordoned(pod.nodeName)) return verdict;
  const onNode = index
    .podsOf(namespace, view.budget.name)
    .filter((other) => other.nodeName === pod.nodeName && exemptionOf(other) === undefined);
  return decideTogether(index, onNode, now).allowed ? verdict : { allowed: false, reason: 'NodeNotDrainable', views };
}

/**
 * A budget may ask that a unit goes down only while all of it finds places. It is asked when the unit goes down, and
 * once more for further members while nothing of it has begun to go.
 */
function lookForRoom(
  index: DisruptionIndex,
  grant: Grant,
  { judgement, now, pod, view }: { pod: PodName; view: BudgetView; now: number; judgement: JudgeOptions },
): EvictionVerdict {
  const { budget, unit } = view;
  if (!budget.needsRoom || !takesDown(index, grant, { pod, view })) return grant;
  const { room } = index;
  const { roomLost } = budget.status;
  if (roomLost !== undefined) return { allowed: false, reason: 'NoRoom', views: [view], room: roomLost };
  if (room === undefined) {
    return { allowed: false, reason: 'CannotTell', views: [view], room: 'CannotTell: the nodes are not known here' };
  }
  const ask = roomAskOf(index, pod, { budget: budget.name, key: unit?.key, now, closing: judgement.closing });
  const answer = room.ask(ask);
  if (!answer.found) {
    const { reason, retryAfterSeconds, text } = answer;
    return { allowed: false, reason, views: [view], room: text, retryAfterSeconds };
  }
  return { ...grant, room: { ask, where: answer.where } };
}

/** What is asked about the unit of a pod: its group under the budget, or the pod alone. */
function roomAskOf(
  index: DisruptionIndex,
  { name, namespace }: PodName,
  of: { budget: string; key: string | undefined; now: number; closing?: readonly string[] | undefined },
): RoomAsk {
  return {
    pod: { namespace, name },
    members: index.membersOf(namespace, name, of.budget),
    unit: `${namespace}/${of.key ?? name}`,
    now: of.now,
    closing: of.closing ?? [],
  };
}

/** A question for each unit under a budget of which nothing is on its way out; undefined where it asks for no room. */
export function roomAsks(index: DisruptionIndex, budget: PodName, now: number): RoomAsk[] | undefined {
  const { name, namespace } = budget;
  if (index.budget(namespace, name)?.needsRoom !== true) return undefined;
  const asks = new Map<string, RoomAsk>();
  for (const pod of index.podsOf(namespace, name)) {
    if (exemptionOf(pod) !== undefined || pod.nodeName === '') continue;
    const key = index.unitOf(namespace, pod.name, name, now)?.key;
    const ask = asks.get(`${namespace}/${key ?? pod.name}`) ?? roomAskOf(index, pod, { budget: name, key, now });
    asks.set(ask.unit, ask);
  }
  return [...asks.values()].filter(({ members }) =>
    members.every((member) => index.pod(namespace, member.name)?.deletionTimestamp === undefined),
  );
}

function takesDown(
  index: DisruptionIndex,
  { charge, reason }: Grant,
  { pod, view }: { pod: PodName; view: BudgetView },
): boolean {
  if (charge?.cost === 1) return true;
  if (reason !== 'GroupAlreadyDown' || view.unit === undefined) return false;
  const members = index.membersOf(pod.namespace, pod.name, view.budget.name);
  const isWhole = members.filter(({ ready }) => ready).length >= view.unit.minCount;
  return isWhole && members.every(({ deletionTimestamp }) => deletionTimestamp === undefined);
}

/**
 * One of several pods that go together, where its budget asks for room: what is found for it is kept from the units
 * after it.
 */
export function withRoom(index: DisruptionIndex, step: Step, now: number, judgement: JudgeOptions): Step {
  const { pod, verdict } = step;
  const view = verdict.allowed ? verdict.charge?.view : undefined;
  if (!verdict.allowed || view?.budget.needsRoom !== true) return step;
  const judged = lookForRoom(index, verdict, { pod, view, now, judgement });
  if (judged.allowed) keepRoom(index, judged, now);
  return { ...step, verdict: judged };
}

/** The places of a grant, with who wants them held. */
export function roomToHold({ charge, room }: Grant): FoundRoom | undefined {
  if (room === undefined) return undefined;
  const { name, namespace, reserve, uid } = charge?.view.budget ?? {};
  if (reserve === undefined || name === undefined) return room;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    namespace: namespace ?? '',
    name,
    uid: uid ?? '',
  };
  return { ...room, hold: { budget, reserve } };
}

/** Keeps the room that was found for a grant from other units. */
export function keepRoom({ room }: DisruptionIndex, grant: Grant, now: number, isHeld = false): void {
  if (grant.room !== undefined) keepPlaces(room, grant.room, now, isHeld);
}

/** Keeps places from other units; what placeholders hold keeps itself. */
export function keepPlaces(
  judge: RoomJudge | undefined,
  { ask, where }: Pick<FoundRoom, 'ask' | 'where'>,
  now: number,
  isHeld = false,
): void {
  judge?.promise(ask, isHeld ? where.filter(({ isFree }) => !isFree) : where, now + PROMISED_MS);
}
