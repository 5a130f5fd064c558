import { expect, test } from 'vitest';
import { DisruptionIndex } from './disruption-index.ts';
import { explainBudget, explainEviction } from './explanation.ts';
import { explanationCauses, formatBudgetExplanation, formatExplanation, refusalMessage } from './explanation-texts.ts';
import { budget, groupUnits, member, NOW, pod } from './fixtures.ts';
import { formatRefusal } from './kubernetes-texts.ts';
import { decideEviction } from './verdict.ts';
import { readWorkload } from './group-facts.ts';

function gangs(): DisruptionIndex {
  const index = new DisruptionIndex();
  const podGroups = [{ name: 'g', replicas: 2, policy: { gang: { minCount: 2 } } }];
  index.setWorkload('default', 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
  index.setPod(member('a0', { key: '0' }));
  index.setPod(member('a1', { key: '0' }, { ready: false }));
  index.setPod(member('b0', { key: '1' }));
  index.setPod(member('b1', { key: '1' }));
  index.setBudget(budget({ spec: { minAvailable: 1 }, status: [0, 1, 1, 2], conditions: [groupUnits] }));
  return index;
}

test('explainEviction() names the budget, the group, the pods that are short and the smallest change', () => {
  const explanation = explainEviction(gangs(), { namespace: 'default', name: 'b0' }, NOW);
  expect(explanation).toEqual({
    namespace: 'default',
    pod: 'b0',
    allowed: false,
    reason: 'BudgetExhausted',
    budgets: [
      {
        name: 'foo',
        counts: 'PodGroup',
        modeReason: 'GroupUnits',
        asks: 'minAvailable 1',
        expected: 2,
        healthy: 1,
        desired: 1,
        allowed: 0,
      },
    ],
    unit: { name: 'Workload/w/g/1', healthy: 2, minCount: 2, members: 2 },
    short: [{ name: 'a1', unit: 'Workload/w/g/0', why: 'NotReady', since: '2026-03-01T11:59:00Z' }],
    shortTotal: 1,
    remedies: [{ action: 'MakePodsReady', text: 'wait until pod a1 becomes Ready again', pods: ['a1'] }],
  });
});

test('formatExplanation() and explanationCauses() say the same', () => {
  const explanation = explainEviction(gangs(), { namespace: 'default', name: 'b0' }, NOW);
  if (explanation === undefined) throw new Error('no pod');
  expect(formatExplanation(explanation, NOW)).toEqual([
    'Pod b0 may not be evicted now: the budget has no room (BudgetExhausted).',
    'Budget foo (minAvailable 1) counts pod groups: 1 of 2 expected healthy, 1 needed, 0 may be disrupted.',
    'Group Workload/w/g/1: 2 of 2 pods healthy, needs 2.',
    '  Pod a1 (group Workload/w/g/0) is not Ready for 60s',
    'To unblock: wait until pod a1 becomes Ready again.',
  ]);
  expect(explanationCauses(explanation, NOW).map(({ reason }) => reason)).toEqual([
    'QuorateBudget',
    'QuorateGroup',
    'QuorateShortPod',
    'QuorateUnblock',
  ]);
});

test('explainEviction() says that only the budget itself can change where no pod could help', () => {
  const index = new DisruptionIndex();
  index.setPod(pod('p'));
  index.setBudget(budget({ spec: { minAvailable: 3 }, status: [0, 1, 3, 1] }));
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)?.remedies).toEqual([
    {
      action: 'ChangeBudget',
      text: 'set minAvailable of foo to 0 (pods)',
      change: { budget: 'foo', field: 'minAvailable', value: 0 },
    },
  ]);
});

test('explainEviction() of a granted eviction asks for nothing', () => {
  const index = new DisruptionIndex();
  index.setPod(pod('p'));
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)).toMatchObject({
    allowed: true,
    reason: 'NoBudget',
    remedies: [],
  });
  expect(explainEviction(index, { namespace: 'default', name: 'q' }, NOW)).toBeUndefined();
});

const SYNC_FAILED = {
  type: 'DisruptionAllowed',
  status: 'False',
  reason: 'SyncFailed',
  message: 'jobs.batch does not implement the scale subresource',
};

test('18.13: pods of a Job under maxUnavailable are told what works, not to wait', () => {
  const index = new DisruptionIndex();
  for (const name of ['p', 'q', 'r']) index.setPod(pod(name));
  index.setBudget(budget({ spec: { maxUnavailable: 1 }, status: [0, 0, 0, 0], conditions: [SYNC_FAILED] }));
  const text =
    'foo cannot be counted (SyncFailed: jobs.batch does not implement the scale subresource); waiting does not help: replace maxUnavailable by an integer, such as minAvailable: 2';
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)?.remedies).toEqual([
    { action: 'ChangeBudget', text },
  ]);
  expect(explainBudget(index, { namespace: 'default', name: 'foo' }, NOW)?.remedies).toEqual([
    { action: 'ChangeBudget', text },
  ]);
});

test('18.13: bare pods under a percentage are told what works, not to wait', () => {
  const index = new DisruptionIndex();
  for (const name of ['p', 'q']) index.setPod(pod(name));
  index.setBudget(budget({ spec: { minAvailable: '50%' }, status: [0, 2, 0, 0] }));
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)?.remedies[0]?.text).toBe(
    'foo cannot be counted (its pods have no controller that says how many there should be); waiting does not help: replace the percentage by an integer, such as minAvailable: 1',
  );
});

test('18.13: a single bare pod is not told to ask for itself, which would hold it for ever', () => {
  const index = new DisruptionIndex();
  index.setPod(pod('p'));
  index.setBudget(budget({ spec: { maxUnavailable: 1 }, status: [0, 1, 0, 0] }));
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)?.remedies[0]?.text).toBe(
    'foo cannot be counted (its pods have no controller that says how many there should be); waiting does not help: replace maxUnavailable by an integer minAvailable, and run more pods than that',
  );
});

test('18.13: a group with a pod gone is named with what is missing, and nobody is told to protect nothing', () => {
  const index = gangs();
  index.deletePod('default', 'a1');
  const explanation = explainBudget(index, { namespace: 'default', name: 'foo' }, NOW);
  if (explanation === undefined) throw new Error('no budget');
  expect(formatBudgetExplanation(explanation, NOW).slice(2)).toEqual([
    '  Group Workload/w/g/0 has 1 of the 2 pods it needs, 1 missing',
    'To allow one disruption: wait until 1 more pod of group Workload/w/g/0 exists and is Ready.',
  ]);
  index.deletePod('default', 'a0');
  expect(explainBudget(index, { namespace: 'default', name: 'foo' }, NOW)?.remedies).toEqual([
    { action: 'MakePodsReady', text: '1 more pod groups of those expected must be created and become healthy' },
  ]);
});

test('18.13: under a budget that counts groups the message goes on in one line; budgets of pods keep theirs', () => {
  const message = (index: DisruptionIndex, name: string): string => {
    const question = index.ask('default', name, NOW);
    const verdict = question && decideEviction(question);
    if (verdict === undefined || verdict.allowed) throw new Error('granted');
    return refusalMessage(formatRefusal(verdict), explainEviction(index, { namespace: 'default', name }, NOW));
  };
  expect(message(gangs(), 'b0')).toBe(
    "Cannot evict pod as it would violate the pod's disruption budget. Budget foo (minAvailable 1) counts pod groups: 1 of 2 expected healthy, 1 needed, 0 may be disrupted. Group Workload/w/g/1: 2 of 2 pods healthy, needs 2. To unblock: wait until pod a1 becomes Ready again.",
  );
  const index = new DisruptionIndex();
  index.setPod(pod('p'));
  index.setBudget(budget({ spec: { minAvailable: 1 }, status: [0, 1, 1, 1] }));
  expect(message(index, 'p')).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
});
