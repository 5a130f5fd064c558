import { expect, test } from 'vitest';
import type { KubeObject } from '../api/resource.ts';
import { budgetViews, unblockingCommand } from './budget-views.ts';
import { makePlan, runningDrains, stepStates } from './drain-view.ts';
import { NOW, stagedFleet, stagedNode } from './stage.fixture.ts';
import { answer } from './what-if.ts';

test('Fleet groups pods as budgets count them, and follows changes', () => {
  const made = stagedFleet();
  const gang = made.groups.all().get('ml/PodGroup/gang-0');
  expect(gang).toMatchObject({ healthy: 2, needed: 2, mark: 'whole', members: ['ml/gang-0-0', 'ml/gang-0-1'] });
  made.delete('Pod', 'ml', 'gang-0-1');
  made.settle(NOW);
  expect(made.groups.all().get('ml/PodGroup/gang-0')).toMatchObject({ healthy: 1, mark: 'broken' });
  made.delete('Pod', 'ml', 'gang-0-0');
  made.settle(NOW);
  expect(made.groups.all().has('ml/PodGroup/gang-0')).toBe(false);
});

test('budgetViews() counts groups, and a stuck budget comes with a command that frees it', () => {
  const made = stagedFleet();
  expect(budgetViews(made, NOW)).toMatchObject([{ id: 'pdb/ml/train', counts: 'PodGroup', healthy: 3, allowed: 1 }]);
  const spec = { minAvailable: 3, selector: { matchLabels: { app: 'train' } } };
  const group = { type: 'PodGroupBudget', status: 'True', reason: 'GroupUnits' };
  const status = { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3, conditions: [group] };
  const metadata = { name: 'train', namespace: 'ml', generation: 2 };
  made.set('PodDisruptionBudget', { metadata, spec, status: { ...status, observedGeneration: 2 } } as KubeObject);
  made.settle(NOW);
  const [view] = budgetViews(made, NOW);
  expect(view?.allowed).toBe(0);
  expect(view && unblockingCommand(view)).toBe(
    `kubectl patch pdb train -n ml --type merge -p '{"spec":{"minAvailable":2}}'`,
  );
});

test('makePlan() moves each gang once, and stepStates() follows it', () => {
  const made = stagedFleet();
  const plan = makePlan(made, { nodes: new Set(['c', 'd']), nodesReturn: false }, NOW);
  expect(plan.plan).toMatchObject({ disruptions: 3, lowerBound: 3, blocked: [] });
  expect(plan.naive.disruptions).toBeGreaterThanOrEqual(3);
  expect(new Set(stepStates(plan, made))).toEqual(new Set(['Ahead']));
  for (const id of plan.plan.steps[0]?.evictions.flatMap(({ pods }) => pods) ?? []) {
    made.delete('Pod', 'ml', id.slice(3));
  }
  expect(stepStates(plan, made)[0]).toBe('Done');
});

test('runningDrains() tells what holds a cordoned node up', () => {
  const made = stagedFleet();
  expect(runningDrains(made, NOW)).toEqual({ drains: [], empty: [], more: 0 });
  for (const name of ['c', 'f']) made.set('Node', { ...stagedNode(name), spec: { unschedulable: true } } as KubeObject);
  const { drains, empty } = runningDrains(made, NOW);
  expect(empty).toEqual(['f']);
  expect(drains[0]).toMatchObject({ node: 'c', left: ['ml/gang-0-1', 'ml/gang-2-0'] });
  expect(drains[0]?.joint.refusals.map(({ reason }) => reason)).toEqual(['BudgetExhausted']);
});

test('answer() asks a copy: two gangs break with a node, and nothing changes', () => {
  const made = stagedFleet();
  const told = answer(made, { kind: 'fail', nodes: new Set(['c']) }, NOW);
  expect(told.lost).toEqual(['ml/gang-0-1', 'ml/gang-2-0']);
  expect(told.marks.find(({ mark }) => mark === 'broken')).toEqual({ mark: 'broken', now: 0, later: 2 });
  expect(told.budgets[0]?.after).toMatchObject({ healthy: 1, desired: 2, allowed: 0 });
  expect(made.pods.size).toBe(6);
  const drained = answer(made, { kind: 'drain', nodes: new Set(['c']) }, NOW);
  expect(drained.lost).toHaveLength(1);
  expect(drained.kept).toMatchObject([{ reason: 'BudgetExhausted' }]);
});
