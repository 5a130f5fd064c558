import { expect, test } from 'vitest';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { planCleanup } from './cleanup.ts';
import { deployment, NOW, replicaSet, rolling, type SetSketch } from './fixtures.ts';
import { limitsOf, resolveFenceposts } from './limits.ts';
import { planNewSize, planOldSizes } from './plan-rolling.ts';
import { planScale } from './plan-scale.ts';
import { splitReplicaSets } from './replica-sets.ts';
import { isComplete, isTimedOut } from './status.ts';

test.each([
  ['0%', '0%', 0, { surge: 0, unavailable: 1 }],
  ['39%', '39%', 10, { surge: 4, unavailable: 3 }],
  [undefined, undefined, 10, { surge: 0, unavailable: 1 }],
] as const)('R1 surge %s and unavailable %s of %i', (surge, unavailable, replicas, want) => {
  expect(resolveFenceposts(surge, unavailable, replicas)).toEqual(want);
});

test('R1 a limit that is no number is an error', () => {
  expect(() => resolveFenceposts('oops', 1, 10)).toThrow(/oops/);
});

test('R1 unavailability never exceeds the size, and Recreate has no limits', () => {
  expect(limitsOf(deployment(2, rolling(0, 5)))).toEqual({ surge: 0, unavailable: 2 });
  expect(limitsOf(deployment(2, { strategy: { type: 'Recreate' } }))).toEqual({ surge: 0, unavailable: 0 });
});

test.each([
  { surge: 0, old: 10, current: 0, want: 0 },
  { surge: 2, old: 10, current: 0, want: 2 },
  { surge: 2, old: 5, current: 0, want: 7 },
  { surge: 2, old: 10, current: 11, want: 10 },
])('R2 new of $current beside old of $old with surge $surge becomes $want', ({ current, old, surge, want }) => {
  expect(planNewSize(deployment(10, rolling(surge, 0)), [replicaSet({ size: old })], current)).toBe(want);
});

const sizesOf = (plan: readonly { replicaSet: { metadata: { name?: string | undefined } }; size: number }[]) =>
  Object.fromEntries(plan.map(({ replicaSet: { metadata }, size }) => [metadata.name, size]));

const oldSizes = (of: Deployment, current: SetSketch, old: readonly SetSketch[]) =>
  sizesOf(
    planOldSizes(of, {
      current: replicaSet({ name: 'new', ...current }),
      old: old.map((sketch, index) => replicaSet({ name: `old-${index}`, age: 10 - index, ...sketch })),
    }),
  );

test('R3 unhealthy pods of old ReplicaSets go first', () => {
  expect(oldSizes(deployment(10, rolling(0, 2)), { size: 0 }, [{ size: 10, available: 8 }])).toEqual({ 'old-0': 8 });
});

test('R4 a new ReplicaSet that is not available holds the old one', () => {
  expect(oldSizes(deployment(10, rolling(0, 2)), { size: 2, available: 0 }, [{ size: 8 }])).toEqual({});
});

test('old ReplicaSets shrink oldest first as the new one becomes available', () => {
  const old = [{ size: 3 }, { size: 5 }];
  expect(oldSizes(deployment(10, rolling(2, 2)), { size: 4 }, old)).toEqual({ 'old-0': 0, 'old-1': 4 });
});

test('old ReplicaSets wait while one reports more pods than it should have', () => {
  expect(oldSizes(deployment(10, rolling(2, 2)), { size: 4 }, [{ size: 3, available: 6 }, { size: 5 }])).toEqual({});
});

interface ShareCase {
  readonly name: string;
  readonly to: number;
  /** `max-replicas` on every ReplicaSet: the size before, with its surge. */
  readonly max: number;
  readonly surge?: number;
  /** New, older, oldest. */
  readonly sizes: readonly number[];
  readonly want: readonly number[];
}

const SHARES: readonly ShareCase[] = [
  { name: 'R5 5 to 10', to: 10, max: 5, sizes: [2, 3], want: [4, 6] },
  { name: 'R6 5 to 3', to: 3, max: 5, sizes: [2, 3], want: [1, 2] },
  { name: 'R6 9 to 4', to: 4, max: 9, sizes: [8, 1], want: [4, 0] },
  { name: 'R7 7 to 10', to: 10, max: 7, sizes: [2, 3, 2], want: [3, 4, 3] },
  { name: 'R7 13 to 8', to: 8, max: 13, sizes: [2, 8, 3], want: [1, 5, 2] },
  { name: 'R8 3 to 4 with a leftover', to: 4, max: 3, sizes: [1, 1, 1], want: [2, 1, 1] },
  { name: 'R8 3 to 2 with a leftover', to: 2, max: 3, sizes: [1, 1, 1], want: [1, 1, 0] },
  { name: 'R9 10 to 20 with surge 2', to: 20, max: 12, surge: 2, sizes: [6, 6], want: [11, 11] },
  { name: 'R9 10 to 50 with surge 3 then 6', to: 50, max: 13, surge: 6, sizes: [5, 8], want: [22, 34] },
  { name: 'R10 6 to 0', to: 0, max: 6, sizes: [3, 2, 1], want: [0, 0, 0] },
];

const NAMES = ['new', 'older', 'oldest'];
const setsOf = (sizes: readonly number[], more: Partial<SetSketch> = {}) => {
  const [current, ...old] = sizes.map((size, index) =>
    replicaSet({ name: NAMES[index] as string, size, age: index + 1, ...more }),
  );
  return { current, old: old.toReversed() };
};

for (const { max, name, sizes, surge = 0, to, want } of SHARES) {
  test(`${name} keeps shares`, () => {
    const plan = planScale(deployment(to, rolling(surge, 0)), setsOf(sizes, { max, available: 0 }));
    expect(plan.rewriteAnnotations).toBe(true);
    expect(sizesOf(plan.resizes)).toEqual(Object.fromEntries(want.map((size, index) => [NAMES[index], size])));
  });
}

test('R10 0 to 6 gives everything to the new ReplicaSet', () => {
  expect(sizesOf(planScale(deployment(6), setsOf([0, 0, 0])).resizes)).toEqual({ new: 6 });
});

test('without a new ReplicaSet the newest old one gets the size', () => {
  const { old } = setsOf([9, 0, 0]);
  expect(sizesOf(planScale(deployment(6), { current: undefined, old }).resizes)).toEqual({ older: 6 });
});

test('a single active ReplicaSet gets the whole size', () => {
  expect(sizesOf(planScale(deployment(6), setsOf([0, 4])).resizes)).toEqual({ older: 6 });
  expect(planScale(deployment(4), setsOf([0, 4])).resizes).toEqual([]);
});

test('R11 a new ReplicaSet of full size without available pods leaves the old one alone', () => {
  const sets = setsOf([5, 1], { desired: 5, max: 5, available: 0 });
  expect(sizesOf(planScale(deployment(5, rolling(1, 0)), sets).resizes)).toEqual({ new: 5, older: 1 });
});

test('a saturated new ReplicaSet sends the others to 0', () => {
  const sets = setsOf([5, 2, 1], { desired: 5, max: 6 });
  expect(sizesOf(planScale(deployment(5, rolling(1, 0)), sets).resizes)).toEqual({ older: 0, oldest: 0 });
});

test('R12 without a max-replicas annotation and without pods the share is 0', () => {
  const plan = planScale(deployment(10, rolling(0, 1), { replicas: 0 }), setsOf([2, 3], { available: 0 }));
  expect(sizesOf(plan.resizes)).toEqual({ new: 2, older: 8 });
});

test('Recreate scales nothing while several ReplicaSets are active', () => {
  expect(
    planScale(deployment(9, { strategy: { type: 'Recreate' } }), setsOf([2, 3], { available: 0 })).resizes,
  ).toEqual([]);
});

test.each([
  [5, { replicas: 5, updatedReplicas: 5, availableReplicas: 4 }, false],
  [5, { replicas: 5, updatedReplicas: 5, availableReplicas: 5 }, true],
  [1, { replicas: 2, updatedReplicas: 1, availableReplicas: 1 }, false],
])('R13 of %i wanted, %j is complete: %s', (replicas, status, want) => {
  expect(isComplete(deployment(replicas), { ...status, observedGeneration: 1 })).toBe(want);
  expect(isComplete(deployment(replicas), { ...status, observedGeneration: 0 })).toBe(false);
});

test.each([
  [11, 'ReplicaSetUpdated', true],
  [9, 'ReplicaSetUpdated', false],
  [11, 'NewReplicaSetAvailable', false],
  [0, 'ProgressDeadlineExceeded', true],
])('R14 last update %i s ago with reason %s against 10 s: timed out %s', (ago, reason, want) => {
  const lastUpdateTime = new Date(NOW - ago * 1000).toISOString();
  expect(isTimedOut({ type: 'Progressing', status: 'True', reason, lastUpdateTime }, 10, NOW)).toBe(want);
});

test('R15 old empty ReplicaSets beyond the limit go, lowest revision first', () => {
  const old = [3, 1, 2].map((revision) => replicaSet({ name: `r${revision}`, size: 0, revision }));
  expect(planCleanup(old, 1).map(({ metadata }) => metadata.name)).toEqual(['r1', 'r2']);
});

test('R15 limit 0 with one of four empty deletes that one', () => {
  const old = [1, 2, 3, 4].map((revision) =>
    replicaSet({ name: `r${revision}`, size: revision === 2 ? 0 : 1, revision }),
  );
  expect(planCleanup(old, 0).map(({ metadata }) => metadata.name)).toEqual(['r2']);
});

test('R15 what cannot go yet is not replaced by a later one', () => {
  const old = [
    replicaSet({ name: 'r1', size: 0, pods: 1, revision: 1 }),
    replicaSet({ name: 'r2', size: 0, revision: 2 }),
  ];
  expect(planCleanup(old, 1)).toEqual([]);
});

test('the oldest ReplicaSet with the template is the new one, whatever its hash', () => {
  const owned = [
    replicaSet({ name: 'b', size: 1, age: 1, image: 'current' }),
    replicaSet({ name: 'a', size: 1, age: 5, image: 'current' }),
    replicaSet({ name: 'c', size: 1, age: 9 }),
  ];
  const { current, old } = splitReplicaSets(deployment(1), owned);
  expect(current?.metadata.name).toBe('a');
  expect(old.map(({ metadata }) => metadata.name)).toEqual(['c', 'b']);
});
