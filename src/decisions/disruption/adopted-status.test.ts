import { expect, test } from 'vitest';
import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { adoptStatus, changesRecordsOnly, type Known } from './adopted-status.ts';
import { budgetObject, NOW } from './fixtures.ts';
import { publishedStatus } from './published-status.ts';

const publication = {
  disruptionsAllowed: 4,
  currentHealthy: 12,
  desiredHealthy: 8,
  expectedPods: 12,
  spare: 4,
  outstanding: 0,
  message: '3 of 3 groups are available, 2 must stay; up to 4 pods can go now if chosen best',
};
const known: Known = { mode: { unit: 'PodGroup', reason: 'GroupUnits' }, publication, observedGeneration: 1 };

const condition = (type: string, status: string, at: string): Condition => ({
  type,
  status,
  reason: 'Some',
  message: '',
  lastTransitionTime: at,
});

/** What the built-in controller computes for three gangs of four under `maxUnavailable: 1`. */
const builtin = (more: PodDisruptionBudgetStatus = {}): PodDisruptionBudget => ({
  ...budgetObject({ spec: { maxUnavailable: 1 } }),
  status: {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 12,
    desiredHealthy: 11,
    expectedPods: 12,
    conditions: [condition('DisruptionAllowed', 'True', '2026-03-01T11:00:00Z')],
    ...more,
  },
});
const published = (at = NOW): PodDisruptionBudget => {
  const budget = builtin();
  return { ...budget, status: publishedStatus(budget, publication, at) };
};
/** The built-in controller starts from what is stored and puts its numbers in. */
const proposal = (old: PodDisruptionBudget, numbers: PodDisruptionBudgetStatus = {}): PodDisruptionBudget => ({
  ...old,
  status: { ...old.status, disruptionsAllowed: 1, currentHealthy: 12, desiredHealthy: 11, ...numbers },
});

test('AD-10: an equal answer makes the very object that is stored, times included', () => {
  const old = published(NOW - 5000);
  const adopted = adoptStatus({ old, proposed: proposal(old) }, known, NOW);
  expect(adopted).toEqual({ result: 'rewritten', status: old.status });
  const late = [condition('DisruptionAllowed', 'True', '2026-03-01T11:59:59Z')];
  const renewed = proposal(old, { conditions: [...late, ...(old.status?.conditions ?? []).slice(1)] });
  expect(adoptStatus({ old, proposed: renewed }, known, NOW).status).toEqual(old.status);
});

const writer = (manager: string, second: number, ...fields: string[]) => ({
  manager,
  time: `2026-03-01T11:00:0${second}Z`,
  fieldsV1: { 'f:status': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) },
});
const writtenBy = (...managedFields: object[]): PodDisruptionBudget => {
  const budget = published();
  return { ...budget, metadata: { ...budget.metadata, managedFields } };
};

test.each([
  ['the same writers in another order', [writer('us', 1, 'conditions'), writer('manager', 9, 'expectedPods')], true],
  ['another owner of a condition', [writer('us', 1), writer('manager', 9, 'expectedPods', 'conditions')], true],
  ['another owner of a number', [writer('manager', 9), writer('us', 1, 'conditions', 'expectedPods')], false],
  ['records as they are', [writer('manager', 1, 'expectedPods'), writer('us', 1, 'conditions')], false],
])('AD-06: changesRecordsOnly() for %s', (_, managedFields, expected) => {
  const old = writtenBy(writer('manager', 1, 'expectedPods'), writer('us', 1, 'conditions'));
  const proposed = writtenBy(...managedFields);
  expect(changesRecordsOnly({ old, proposed }, old.status ?? {})).toBe(expected);
  // Whatever else changes is written.
  expect(changesRecordsOnly({ old, proposed }, { ...old.status, disruptionsAllowed: 3 })).toBe(false);
  const labelled = { ...proposed, metadata: { ...proposed.metadata, labels: { a: 'b' } } };
  expect(changesRecordsOnly({ old, proposed: labelled }, old.status ?? {})).toBe(false);
});

test('AD-09: what the built-in controller could not count is replaced whole', () => {
  const old = builtin();
  const failed = { ...condition('DisruptionAllowed', 'False', '2026-03-01T11:30:00Z'), reason: 'SyncFailed' };
  const proposed = proposal(old, { disruptionsAllowed: 0, conditions: [failed] });
  const { status } = adoptStatus({ old, proposed }, known, NOW);
  expect(status).toMatchObject({ disruptionsAllowed: 4, desiredHealthy: 8, currentHealthy: 12 });
  expect(status.conditions).toMatchObject([
    { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' },
    { type: 'CountsGroups', status: 'True', reason: 'GroupUnits', message: publication.message },
  ]);
});

test('AD-11: who cannot know keeps numbers that are ours', () => {
  const old = published();
  const disruptedPods = { p: '2026-03-01T12:00:00Z' };
  const proposed = proposal(old, { disruptedPods });
  const adopted = adoptStatus({ old, proposed }, { ...known, publication: undefined }, NOW);
  expect(adopted).toEqual({ result: 'kept', status: { ...old.status, disruptedPods } });
});

test('AD-12: a new budget over groups is held back until its ledger answers; one over pods is nobody’s business', () => {
  const fresh = { ...builtin(), status: {} };
  const proposed = { ...builtin(), metadata: { ...fresh.metadata, generation: 1 } };
  const unknown: Known = { ...known, publication: undefined, observedGeneration: undefined };
  const held = adoptStatus({ old: fresh, proposed }, unknown, NOW);
  expect(held.result).toBe('barrier');
  expect(held.status).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 12 });
  expect(held.status.observedGeneration).toBeUndefined();
  const again = adoptStatus({ old: { ...fresh, status: held.status }, proposed }, unknown, NOW + 60_000);
  expect(again.status).toEqual(held.status);
  const inPods: Known = { ...unknown, mode: { unit: 'Pod', reason: 'NoGroupedPods' } };
  expect(adoptStatus({ old: fresh, proposed }, inPods, NOW).status).toBe(proposed.status);
});

test('a changed spec stays held back until the ledger answers it', () => {
  const before = published();
  const old = { ...before, metadata: { ...before.metadata, generation: 2 } };
  const proposed = proposal(old, { observedGeneration: 2 });
  const held = adoptStatus({ old, proposed }, known, NOW);
  expect(held).toEqual({ result: 'barrier', status: before.status });
  const lifted = adoptStatus({ old, proposed }, { ...known, observedGeneration: 2 }, NOW);
  expect(lifted.result).toBe('rewritten');
  expect(lifted.status.observedGeneration).toBe(2);
});

test('AD-19: a budget that counts pods now gets the built-in numbers, and its marker says why', () => {
  const old = published();
  const adopted = adoptStatus(
    { old, proposed: proposal(old) },
    { ...known, mode: { unit: 'Pod', reason: 'WorkloadNotFound' } },
    NOW,
  );
  expect(adopted.status).toMatchObject({ disruptionsAllowed: 1, desiredHealthy: 11 });
  expect(adopted.status.conditions?.[1]).toMatchObject({ status: 'False', reason: 'WorkloadNotFound' });
});
