import { expect, test } from 'vitest';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from '../../api/kruise/types.ts';
import {
  computeStatus,
  isSameStatus,
  isThresholdGivenUp,
  isThresholdUnreached,
  raisedConditions,
  type UnavailabilityStatusQuestion,
} from './status.ts';
import { UnavailabilityTally, type CoveredPod } from './tally.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const pod = (name: string, change: Partial<CoveredPod> = {}): CoveredPod => ({
  name,
  uid: name,
  createdAtMs: 0,
  active: true,
  serving: true,
  group: undefined,
  declaredSize: undefined,
  ownerUid: undefined,
  ...change,
});
const members = (group: string, count: number, change: Partial<CoveredPod> = {}): CoveredPod[] =>
  Array.from({ length: count }, (_, index) => pod(`${group}-${index}`, { group, ...change }));

function ask(
  spec: PodUnavailableBudgetSpec,
  pods: CoveredPod[],
  change: Partial<UnavailabilityStatusQuestion> = {},
): UnavailabilityStatusQuestion {
  const tally = new UnavailabilityTally(spec.podGroupPolicy?.minReadyReplicas);
  for (const one of pods) tally.set(one);
  const budget: PodUnavailableBudget = { metadata: { name: 'pub', generation: 4 }, spec };
  return {
    budget,
    tally,
    ledger: { disruptedPods: {}, unavailablePods: {}, notDeleted: [], nextExpiryMs: undefined },
    expected: { count: 3, declared: true },
    shortSinceMs: undefined,
    nowMs: NOW,
    ...change,
  };
}

const policy = (minReadyReplicas: number): PodUnavailableBudgetSpec => ({
  maxUnavailable: 1,
  podGroupPolicy: { groupLabelKey: 'g', minReadyReplicas },
});
const conditionOf = (question: UnavailabilityStatusQuestion, type: string) =>
  computeStatus(question).conditions?.find((candidate) => candidate.type === type);

test('computeStatus() G1 and G2 count groups, and say how many are down', () => {
  const whole = ask(policy(3), [...members('0', 3), ...members('1', 3), ...members('2', 3)]);
  expect(computeStatus(whole)).toMatchObject({
    observedGeneration: 4,
    totalReplicas: 3,
    desiredAvailable: 2,
    currentAvailable: 3,
    unavailableAllowed: 1,
  });
  const short = ask(policy(3), [
    ...members('0', 3),
    ...members('1', 2),
    pod('x', { group: '1', serving: false }),
    ...members('2', 3),
  ]);
  expect(computeStatus(short)).toMatchObject({
    currentAvailable: 2,
    unavailableAllowed: 0,
    groupStatus: { unavailableGroups: 1, unavailableGroupNames: ['1'] },
  });
});

test('computeStatus() G5 says when nobody declares the number of groups', () => {
  const question = ask(policy(3), [...members('0', 3), ...members('1', 3)], {
    expected: { count: 2, declared: false },
  });
  expect(conditionOf(question, 'ExpectedGroupCountUnknown')).toMatchObject({ status: 'True', reason: 'NoScaleSource' });
});

test('computeStatus() G14 names pods without the label and leaves the four integers alone', () => {
  const question = ask(policy(3), [...members('0', 3), ...members('1', 3), ...members('2', 3), pod('u1'), pod('u2')]);
  expect(conditionOf(question, 'GroupLabelMissing')).toMatchObject({ status: 'True', reason: 'PodsWithoutGroupLabel' });
  expect(conditionOf(question, 'GroupLabelMissing')?.message).toContain('u1, u2');
  expect(computeStatus(question)).toMatchObject({
    totalReplicas: 3,
    currentAvailable: 3,
    groupStatus: { ungroupedPods: 2, ungroupedAvailable: 2 },
  });
});

test('18.15: computeStatus() G16 a threshold above the declared size is not clamped and reported from the start', () => {
  const sized = { declaredSize: 3 };
  const question = ask(policy(5), [...members('0', 3, sized), ...members('1', 3, sized), ...members('2', 3, sized)]);
  expect(conditionOf(question, 'MinReadyReplicasImpossible')).toMatchObject({
    status: 'True',
    reason: 'ExceedsDeclaredGroupSize',
  });
  expect(computeStatus(question)).toMatchObject({
    totalReplicas: 3,
    desiredAvailable: 2,
    currentAvailable: 0,
    unavailableReplicas: 3,
    unavailableAllowed: 0,
  });
  expect(isThresholdGivenUp(question)).toBe(true);
});

test('18.15: computeStatus() G17 a threshold nobody reaches is reported within seconds, one that was reached after 300 s', () => {
  const groups = [...members('0', 3), ...members('1', 3)];
  expect(isThresholdUnreached(ask(policy(5), groups))).toBe(true);
  expect(isThresholdUnreached(ask(policy(3), groups))).toBe(false);
  const after = (seconds: number) =>
    conditionOf(ask(policy(5), groups, { shortSinceMs: NOW - seconds * 1000 }), 'MinReadyReplicasImpossible');
  expect(after(4)).toMatchObject({ status: 'False', reason: 'AsExpected' });
  expect(after(5)).toMatchObject({ status: 'True', reason: 'NoGroupReachesThreshold' });
  expect(isThresholdGivenUp(ask(policy(5), groups)), 'guarded meanwhile').toBe(true);

  const reached = computeStatus(ask(policy(3), groups));
  expect(reached.conditions?.find(({ type }) => type === 'MinReadyReplicasImpossible')?.reason).toBe(
    'ThresholdReached',
  );
  const lost = (seconds: number): UnavailabilityStatusQuestion => {
    const question = ask(policy(3), [...members('0', 2), ...members('1', 2)], { shortSinceMs: NOW - seconds * 1000 });
    return { ...question, budget: { ...question.budget, status: reached } };
  };
  expect(isThresholdGivenUp(lost(10)), 'groups that lost their pods are unavailable, no more').toBe(false);
  expect(conditionOf(lost(299), 'MinReadyReplicasImpossible')).toMatchObject({ reason: 'ThresholdReached' });
  expect(conditionOf(lost(300), 'MinReadyReplicasImpossible')).toMatchObject({ reason: 'NoGroupReachesThreshold' });
});

test('computeStatus() G19 without the policy it counts pods and has no group conditions', () => {
  const status = computeStatus(ask({ maxUnavailable: 1 }, members('0', 3)));
  expect(status).toMatchObject({ totalReplicas: 3, currentAvailable: 3 });
  expect(status.conditions).toBeUndefined();
  expect(status.groupStatus).toBeUndefined();
});

test('computeStatus() C14 says when pods are counted for want of a scale', () => {
  const question = ask({ maxUnavailable: 1 }, [pod('a')], { expected: { count: 1, declared: false } });
  expect(conditionOf(question, 'ExpectedCountUnknown')).toMatchObject({ status: 'True' });
});

test('isSameStatus() C17 and raisedConditions(): nothing is written or said twice', () => {
  const question = ask(policy(3), [pod('u1')]);
  const status = computeStatus(question);
  expect(raisedConditions(undefined, status).map(({ type }) => type)).toEqual(['GroupLabelMissing']);
  const again = computeStatus({ ...question, budget: { ...question.budget, status }, nowMs: NOW + 60_000 });
  expect(isSameStatus(status, again)).toBe(true);
  expect(raisedConditions(status, again)).toEqual([]);
  const newer = computeStatus({ ...question, budget: { ...question.budget, status }, podsResourceVersion: '20' });
  expect(newer.groupStatus?.podsResourceVersion).toBe('20');
  expect(isSameStatus(status, newer)).toBe(true);
  expect(isSameStatus({ ...status, unavailableAllowed: 9 }, newer)).toBe(false);
});

test('18.15: computeStatus() says how many are unavailable, and that bare pods under maxUnavailable are not protected', () => {
  const pods = [pod('a'), pod('b', { serving: false })];
  const bare = ask({ maxUnavailable: 1 }, pods, { expected: { count: 0, declared: true } });
  expect(conditionOf(bare, 'ProtectsNothing')).toMatchObject({ status: 'True', reason: 'BarePods' });
  const fixed = ask({ minAvailable: 1 }, pods, { expected: { count: 0, declared: true } });
  expect(conditionOf(fixed, 'ProtectsNothing')).toBeUndefined();
  const managed = ask({ maxUnavailable: 1 }, pods, { expected: { count: 2, declared: true } });
  expect(computeStatus(managed)).toMatchObject({ totalReplicas: 2, unavailableReplicas: 1 });
  expect(conditionOf(managed, 'ProtectsNothing')).toBeUndefined();
});
