import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { layOut } from '../matrix/layout.ts';
import { budgetViews, unblockingCommand } from './budget-views.ts';
import { makePlan, runningDrains, stepStates } from './drain-view.ts';
import { Fleet } from './fleet.ts';
import { answer } from './what-if.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const node = (name: string): KubeObject =>
  ({ metadata: { name }, status: { allocatable: { cpu: '8', memory: '64Gi', pods: '20' } } }) as KubeObject;

const pod = (gang: string, at: number, on: string): KubeObject =>
  ({
    metadata: { name: `${gang}-${at}`, namespace: 'ml', uid: `${gang}-${at}`, labels: { app: 'train' } },
    spec: { nodeName: on, schedulingGroup: { podGroupName: gang }, containers: [{ name: 'c' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as KubeObject;

/** Three gangs of two on six nodes, two of them empty, each gang across two neighbours; one gang may be down. */
function fleet(): Fleet {
  const made = new Fleet();
  for (const name of ['f', 'e', 'd', 'c', 'b', 'a']) made.set('Node', node(name));
  for (const name of ['gang-0', 'gang-1', 'gang-2']) {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    const metadata = { name, namespace: 'ml' };
    made.set('PodGroup', { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata, spec } as KubeObject);
  }
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'train' } } };
  const group = { type: 'PodGroupBudget', status: 'True', reason: 'GroupUnits' };
  const status = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, conditions: [group] };
  made.set('PodDisruptionBudget', { metadata: { name: 'train', namespace: 'ml' }, spec, status } as KubeObject);
  const places = [
    ['a', 'c'],
    ['b', 'd'],
    ['c', 'd'],
  ];
  for (const [at, [first = '', second = '']] of places.entries()) {
    made.set('Pod', pod(`gang-${at}`, 0, first));
    made.set('Pod', pod(`gang-${at}`, 1, second));
  }
  made.settle(NOW);
  return made;
}

test('Fleet groups pods as budgets count them, and follows changes', () => {
  const made = fleet();
  const gang = made.groups.all().get('ml/PodGroup/gang-0');
  expect(gang).toMatchObject({ healthy: 2, needed: 2, mark: 'whole', members: ['ml/gang-0-0', 'ml/gang-0-1'] });
  made.delete('Pod', 'ml', 'gang-0-1');
  made.settle(NOW);
  expect(made.groups.all().get('ml/PodGroup/gang-0')).toMatchObject({ healthy: 1, mark: 'broken' });
  made.delete('Pod', 'ml', 'gang-0-0');
  made.settle(NOW);
  expect(made.groups.all().has('ml/PodGroup/gang-0')).toBe(false);
});

test('layOut() puts the nodes of a group beside each other', () => {
  const made = fleet();
  const { columns, rows } = layOut(made.shownNodes(), [...made.groups.all().values()]);
  expect(rows.map((row) => row.node)).toEqual(['a', 'c', 'b', 'd', 'e', 'f']);
  expect(columns.map(({ name }) => name)).toEqual(['PodGroup/gang-0', 'PodGroup/gang-2', 'PodGroup/gang-1']);
});

test('budgetViews() counts groups, and a stuck budget comes with a command that frees it', () => {
  const made = fleet();
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
  const made = fleet();
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
  const made = fleet();
  expect(runningDrains(made, NOW)).toEqual({ drains: [], empty: [], more: 0 });
  for (const name of ['c', 'f']) made.set('Node', { ...node(name), spec: { unschedulable: true } } as KubeObject);
  const { drains, empty } = runningDrains(made, NOW);
  expect(empty).toEqual(['f']);
  expect(drains[0]).toMatchObject({ node: 'c', left: ['ml/gang-0-1', 'ml/gang-2-0'] });
  expect(drains[0]?.joint.refusals.map(({ reason }) => reason)).toEqual(['BudgetExhausted']);
});

test('answer() asks a copy: two gangs break with a node, and nothing changes', () => {
  const made = fleet();
  const told = answer(made, { kind: 'fail', nodes: new Set(['c']) }, NOW);
  expect(told.lost).toEqual(['ml/gang-0-1', 'ml/gang-2-0']);
  expect(told.marks.find(({ mark }) => mark === 'broken')).toEqual({ mark: 'broken', now: 0, later: 2 });
  expect(told.budgets[0]?.after).toMatchObject({ healthy: 1, desired: 2, allowed: 0 });
  expect(made.pods.size).toBe(6);
  const drained = answer(made, { kind: 'drain', nodes: new Set(['c']) }, NOW);
  expect(drained.lost).toHaveLength(1);
  expect(drained.kept).toMatchObject([{ reason: 'BudgetExhausted' }]);
});
