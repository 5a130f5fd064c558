import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from '../../api/kruise/types.ts';
import { BudgetIndex, isIgnored, targetOf } from './budget-index.ts';

const pod = (name: string, labels: Record<string, string>, ready = true): Pod => ({
  metadata: { name, namespace: 'default', labels, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const budget = (
  name: string,
  spec: PodUnavailableBudgetSpec,
  status?: PodUnavailableBudget['status'],
): PodUnavailableBudget => ({
  metadata: { name, namespace: 'default' },
  spec: { maxUnavailable: 1, ...spec },
  status,
});
const web = { selector: { matchLabels: { app: 'web' } } };
const names = (index: BudgetIndex, podName: string) => index.covering(podName).map((one) => one.budget.metadata.name);

test('BudgetIndex W23 finds every budget that covers a pod, by name, whichever came first', () => {
  const index = new BudgetIndex();
  index.setBudget(budget('b', web));
  index.setPod({ pod: pod('p', { app: 'web', tier: 'x' }), targets: ['apps/Deployment/web'] });
  index.setBudget(budget('a', { selector: { matchLabels: { tier: 'x' } } }));
  index.setBudget(budget('c', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }));
  index.setBudget(budget('d', { selector: { matchLabels: { app: 'other' } } }));
  expect(names(index, 'p')).toEqual(['a', 'b', 'c']);
});

test('BudgetIndex W24 a deleted budget covers nothing, and its successor does', () => {
  const index = new BudgetIndex();
  index.setBudget(budget('a', web));
  index.setPod({ pod: pod('p', { app: 'web' }), targets: [] });
  index.deleteBudget('a');
  index.setBudget(budget('b', web));
  expect(names(index, 'p')).toEqual(['b']);
});

test('BudgetIndex counts pods as they come, change and go', () => {
  const index = new BudgetIndex();
  index.setBudget(budget('a', web));
  index.setPod({ pod: pod('p', { app: 'web' }), targets: [] });
  index.setPod({ pod: pod('q', { app: 'web' }), targets: [] });
  const tally = () => index.budget('a')?.tally.availablePods;
  expect(tally()).toBe(2);
  index.setPod({ pod: pod('q', { app: 'web' }, false), targets: [] });
  expect(tally()).toBe(1);
  index.setPod({ pod: pod('q', { app: 'other' }), targets: [] });
  expect(tally()).toBe(1);
  index.deletePod('p');
  expect(tally()).toBe(0);
});

test('BudgetIndex a policy added to a live budget recounts its pods in groups', () => {
  const index = new BudgetIndex();
  index.setBudget(budget('a', web));
  for (const [name, group] of [
    ['p', '0'],
    ['q', '0'],
    ['r', '1'],
  ] as const) {
    index.setPod({ pod: pod(name, { app: 'web', g: group }), targets: [] });
  }
  index.setBudget(budget('a', { ...web, podGroupPolicy: { groupLabelKey: 'g', minReadyReplicas: 2 } }));
  expect(index.budget('a')?.tally.availableGroups).toBe(1);
});

test('BudgetIndex takes the ledger over with the status', () => {
  const index = new BudgetIndex();
  index.setPod({ pod: pod('p', { app: 'web' }), targets: [] });
  index.setBudget(budget('a', web, { disruptedPods: { p: '2026-01-01T00:01:00Z' } }));
  expect(index.budget('a')?.tally.availablePods).toBe(0);
});

test('isIgnored() and targetOf()', () => {
  const index = new BudgetIndex();
  index.setBudget(budget('a', { ...web, ignoredPodSelector: { matchLabels: { canary: 'true' } } }));
  const entry = index.budget('a');
  expect(entry && isIgnored(entry, pod('p', { canary: 'true' }))).toBe(true);
  expect(entry && isIgnored(entry, pod('p', {}))).toBe(false);
  expect(targetOf({ apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'web' })).toBe('apps/Deployment/web');
});
