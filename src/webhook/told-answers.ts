import type { GroupEviction } from '../api/quorate/group-eviction.ts';
import {
  type GivenAnswer,
  type AnswerQueue,
  groupNamedBy,
  isRefusalCode,
  readRefusal,
} from '../decisions/history/index.ts';
import { isDryRun } from './pins.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';
import type { ReviewHandler } from './server.ts';

interface ReviewTeller {
  readonly answers: AnswerQueue;
  readonly now: () => number;
  /** The uid of a pod that an eviction names. */
  readonly uidOf: (namespace: string, name: string) => string | undefined;
  /** Whether a budget judges deletes of a pod. */
  readonly judgesDeletes: (namespace: string, name: string) => boolean;
}

/** Tells the record what a review was answered, once it is; the answer neither waits for it nor depends on it. */
export function telling(teller: ReviewTeller, handler: ReviewHandler): ReviewHandler {
  return async (request, signal) => {
    const asked = readAsked(teller, request);
    const response = await handler(request, signal);
    const isAnswer = response.allowed || isRefusalCode(response.status?.code);
    if (asked !== undefined && isAnswer) teller.answers.tell({ ...asked, at: teller.now(), ...readResponse(response) });
    return response;
  };
}

function readResponse({ allowed, status }: ReviewResponse): Pick<GivenAnswer, 'allowed' | 'refusal'> {
  return allowed || status === undefined ? { allowed } : { allowed, refusal: readRefusal(status) };
}

/** Undefined where nobody asks for anything to go. */
function readAsked(teller: ReviewTeller, request: ReviewRequest): Omit<GivenAnswer, 'at' | 'allowed'> | undefined {
  const { name = '', namespace = '', object, oldObject, operation, resource, subResource, userInfo } = request;
  if (isDryRun(request)) return undefined;
  const who = userInfo?.username ?? '';
  if (subResource === 'eviction') {
    return { kind: 'Eviction', namespace, pod: { name, uid: teller.uidOf(namespace, name) ?? '' }, who };
  }
  if (operation === 'CREATE' && resource.resource === 'groupevictions') {
    return { kind: 'GroupEviction', namespace, group: groupNamedBy((object as GroupEviction | undefined)?.spec), who };
  }
  if (operation !== 'DELETE' || resource.resource !== 'pods') return undefined;
  const { uid = '' } = oldObject?.metadata ?? {};
  return { kind: 'Delete', namespace, pod: { name, uid }, who, judged: teller.judgesDeletes(namespace, name) };
}
