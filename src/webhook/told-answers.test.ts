import { expect, test } from 'vitest';
import { AnswerQueue, type GivenAnswer } from '../decisions/history/index.ts';
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';
import { telling } from './told-answers.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const eviction: ReviewRequest = {
  uid: 'r',
  operation: 'CREATE',
  resource: pods,
  subResource: 'eviction',
  name: 'web-0',
  namespace: 'ml',
  userInfo: { username: 'ada' },
  object: {},
};

async function told(request: ReviewRequest, response: ReviewResponse): Promise<GivenAnswer[]> {
  const answers = new AnswerQueue();
  const teller = { answers, now: () => 7, uidOf: () => 'u', judgesDeletes: () => true };
  expect(await telling(teller, () => Promise.resolve(response))(request, AbortSignal.timeout(1000))).toBe(response);
  return answers.take();
}

const no = (code: number): ReviewResponse =>
  refuse({ code, reason: 'TooManyRequests', message: 'no', details: { causes: [{ reason: 'DisruptionBudget' }] } });

test('8.2: telling() says who was let pass, and who was refused and why', async () => {
  expect(await told(eviction, allow)).toEqual([
    { at: 7, kind: 'Eviction', namespace: 'ml', pod: { name: 'web-0', uid: 'u' }, who: 'ada', allowed: true },
  ]);
  expect(await told(eviction, no(429))).toMatchObject([
    { allowed: false, refusal: { reason: 'DisruptionBudget', message: 'no' } },
  ]);
});

test('8.2: telling() is silent on dry runs, and on pods that are gone', async () => {
  expect(await told({ ...eviction, dryRun: true }, allow)).toEqual([]);
  expect(await told(eviction, no(404))).toEqual([]);
});

test('8.2: telling() says which group was asked for, and who deleted what a budget judged', async () => {
  const group: ReviewRequest = {
    uid: 'r',
    operation: 'CREATE',
    resource: { group: 'policy.quorate.dev', version: 'v1alpha1', resource: 'groupevictions' },
    namespace: 'ml',
    userInfo: { username: 'ada' },
    object: { spec: { leaderWorkerSet: { name: 'chat', groupIndex: 1 } } },
  };
  expect(await told(group, allow)).toMatchObject([{ kind: 'GroupEviction', group: 'LeaderWorkerSet/chat/1' }]);
  const removal: ReviewRequest = {
    uid: 'r',
    operation: 'DELETE',
    resource: pods,
    name: 'web-0',
    namespace: 'ml',
    userInfo: { username: 'bob' },
    oldObject: { metadata: { name: 'web-0', uid: 'u0' } },
  };
  expect(await told(removal, allow)).toMatchObject([
    { kind: 'Delete', pod: { uid: 'u0' }, who: 'bob', judged: true, allowed: true },
  ]);
  expect(await told({ ...removal, operation: 'UPDATE' }, allow)).toEqual([]);
});
