import { expect, test } from 'vitest';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { foreignWriter, ForeignWrites, lastForeignWriteMs } from './status-writers.ts';

const budget = (
  disruptionsAllowed: number,
  managers: readonly { manager: string; owns?: readonly string[]; time?: string }[],
): PodDisruptionBudget => ({
  metadata: {
    name: 'b',
    managedFields: managers.map(({ manager, owns = [], time }) => ({
      manager,
      subresource: 'status',
      time,
      fieldsV1: { 'f:status': Object.fromEntries(owns.map((name) => [`f:${name}`, {}])) },
    })),
  },
  status: { disruptionsAllowed },
});

test.each([
  ['the built-in controller puts another number in', 'kube-controller-manager', ['disruptionsAllowed'], 1],
  ['an administrator does by hand', 'kubectl-edit', ['disruptionsAllowed', 'desiredHealthy'], 1],
])('foreignWriter() names who it is when %s', (_, manager, owns, allowed) => {
  const old = budget(4, [{ manager: 'quorate-operator', owns: ['disruptionsAllowed'] }]);
  expect(foreignWriter(old, budget(allowed, [{ manager, owns }]))).toBe(manager);
});

test.each([
  ['we change it', 'quorate-operator', ['disruptionsAllowed'], 3],
  ['the API server counts an eviction', 'kube-apiserver', ['disruptionsAllowed', 'disruptedPods'], 3],
  ['the built-in controller owns it and nobody changed it', 'kube-controller-manager', ['disruptionsAllowed'], 4],
  ['the built-in controller owns something else', 'kube-controller-manager', ['observedGeneration'], 3],
])('foreignWriter() names nobody when %s', (_, manager, owns, allowed) => {
  expect(foreignWriter(budget(4, []), budget(allowed, [{ manager, owns }]))).toBeUndefined();
});

test('lastForeignWriteMs() is the newest of all budgets, ours and the API server left out', () => {
  const time = '2026-01-01T12:00:00Z';
  const ours = { manager: 'quorate-operator', time: '2026-01-01T13:00:00Z' };
  expect(lastForeignWriteMs([budget(1, [ours])])).toBeUndefined();
  const builtin = { manager: 'kube-controller-manager', time };
  expect(lastForeignWriteMs([budget(1, [ours]), budget(1, [builtin, ours])])).toBe(Date.parse(time));
});

const SECOND = 1000;

test('AD-17: ForeignWrites calls three within a minute a fight, and fewer not', () => {
  const writes = new ForeignWrites();
  for (const at of [0, 40, 80, 120]) writes.add('slow', 'x', at * SECOND);
  expect(writes.writer('slow', 121 * SECOND)).toBeUndefined();
  for (const at of [0, 10]) writes.add('b', 'x', at * SECOND);
  expect(writes.writer('b', 11 * SECOND)).toBeUndefined();
  writes.add('b', 'kube-controller-manager', 20 * SECOND);
  expect(writes.writer('b', 21 * SECOND)).toBe('kube-controller-manager');
});

test('AD-17: in a fight numbers are put right every 30 s, for as long as somebody changes them', () => {
  const writes = new ForeignWrites();
  expect(writes.turnInMs('b', 0)).toBe(0);
  for (const at of [0, 1, 2]) writes.add('b', 'x', at * SECOND);
  const turns: number[] = [];
  for (let at = 3; at < 200; at += 1) {
    if (writes.turnInMs('b', at * SECOND) > 0) continue;
    turns.push(at);
    // It answers at once, until it is switched off.
    if (at < 100) writes.add('b', 'x', at * SECOND);
  }
  expect(turns.slice(0, 5)).toEqual([3, 33, 63, 93, 123]);
  expect(writes.writer('b', 182 * SECOND)).toBe('x');
  expect(writes.writer('b', 184 * SECOND)).toBeUndefined();
});
