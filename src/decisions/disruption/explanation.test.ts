import { expect, test } from 'vitest';
import { DisruptionIndex } from './disruption-index.ts';
import { explainEviction } from './explanation.ts';
import { explanationCauses, formatExplanation } from './explanation-texts.ts';
import { budget, groupUnits, member, NOW, pod } from './fixtures.ts';
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
    remedies: [
      { action: 'MakePodsReady', text: 'wait until pod a1 becomes Ready again', pods: ['a1'] },
      { action: 'ChangeBudget', text: 'set minAvailable of foo to 0 (pod groups)' },
    ],
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
    'Or: set minAvailable of foo to 0 (pod groups).',
  ]);
  expect(explanationCauses(explanation, NOW).map(({ reason }) => reason)).toEqual([
    'QuorateBudget',
    'QuorateGroup',
    'QuorateShortPod',
    'QuorateUnblock',
    'QuorateUnblock',
  ]);
});

test('explainEviction() says that only the budget itself can change where no pod could help', () => {
  const index = new DisruptionIndex();
  index.setPod(pod('p'));
  index.setBudget(budget({ spec: { minAvailable: 3 }, status: [0, 1, 3, 1] }));
  expect(explainEviction(index, { namespace: 'default', name: 'p' }, NOW)?.remedies).toEqual([
    { action: 'ChangeBudget', text: 'set minAvailable of foo to 0 (pods)' },
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
