import { expect, test } from 'vitest';
import { type BudgetOptions, member, NOW, pod } from './fixtures.ts';
import { Stage } from './stage.fixture.ts';
import { decideTogether, openAccount } from './together.ts';

const tenOfEight = (spec: BudgetOptions['spec'], more?: BudgetOptions) =>
  new Stage([{ replicas: 10, minCount: 8 }], spec, more);

test('X1 ten groups of eight with minAvailable 9 lose one group and no more', () => {
  const stage = tenOfEight({ minAvailable: 9 }).units(10, 8);
  expect(stage.sync()).toMatchObject({ E: 10, C: 10, D: 9, A: 1, mode: 'GroupUnits' });
  expect(stage.evict('g0p0')).toBe('201 cost 1');
  expect(stage.allowed).toBe(0);
  expect(stage.evict('g0p1')).toBe('201 cost 0');
  expect(stage.evict('g1p0')).toBe('BudgetExhausted');
});

test('X2 a node with a pod of each of two groups loses only the first', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  expect(stage.evict('g0p2')).toBe('201 cost 1');
  expect(stage.evict('g1p0')).toBe('BudgetExhausted');
  stage.index.deletePod('default', 'g0p2');
  stage.member('g0p3', '0');
  stage.sync();
  expect(stage.evict('g1p0')).toBe('201 cost 1');
});

test('X3 surplus pods are free, the one below the minimum is not', () => {
  const stage = new Stage([{ replicas: 3, minCount: 8 }], { maxUnavailable: 0 }).units(3, 10);
  expect(stage.sync().A).toBe(0);
  expect([stage.evict('g0p0'), stage.evict('g0p1'), stage.evict('g0p2')]).toEqual([
    '201 cost 0',
    '201 cost 0',
    'BudgetExhausted',
  ]);
});

test('X4 percentages are over declared replicas, absent groups are unavailable', () => {
  expect(tenOfEight({ minAvailable: '80%' }).units(8, 8).sync()).toMatchObject({ D: 8, A: 0 });
  expect(tenOfEight({ maxUnavailable: '25%' }).units(8, 8).sync()).toMatchObject({ D: 7, A: 1 });
});

test('X5 leader and worker groups add up in one budget', () => {
  const groups = [
    { name: 'l', replicas: 2, minCount: 1 },
    { name: 'w', replicas: 2, minCount: 4 },
  ];
  const stage = new Stage(groups, { maxUnavailable: 1 }).units(2, 1, { group: 'l' }).units(2, 4, { group: 'w' });
  expect(stage.sync()).toMatchObject({ E: 4, D: 3, A: 1 });
  expect([stage.evict('l0p0'), stage.evict('w0p0')]).toEqual(['201 cost 1', 'BudgetExhausted']);
});

test('X6 a deleted Workload makes the budget count pods', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.workload(undefined);
  expect(stage.sync()).toEqual({ E: 6, D: 1, C: 6, A: 5, mode: 'WorkloadNotFound' });
});

test('X7 one unready pod in every group blocks everything, AlwaysAllow nothing', () => {
  const blocked = tenOfEight({ minAvailable: 9 }).units(10, 8);
  const lifted = tenOfEight({ minAvailable: 9, unhealthyPodEvictionPolicy: 'AlwaysAllow' }).units(10, 8);
  for (const stage of [blocked, lifted]) {
    for (let unit = 0; unit < 10; unit += 1) stage.member(`g${unit}p0`, String(unit), { ready: false });
  }
  expect(blocked.sync()).toMatchObject({ C: 0, A: 0 });
  expect([blocked.evict('g3p0'), blocked.evict('g3p1')]).toEqual(['BudgetExhausted', 'BudgetExhausted']);
  lifted.sync();
  expect([lifted.evict('g3p0'), lifted.evict('g3p1')]).toEqual(['201 cost none', '201 cost none']);
});

test('X8 a group already down goes on being drained, others wait', () => {
  const stage = tenOfEight({ maxUnavailable: 1 }).units(10, 8).member('g3p0', '3', { ready: false });
  expect(stage.sync()).toMatchObject({ C: 9, D: 9, A: 0 });
  expect([stage.evict('g3p1'), stage.evict('g0p0')]).toEqual(['201 cost 0', 'BudgetExhausted']);
});

test('X9 of two surplus evictions at once the second sees the first', () => {
  const stage = new Stage([{ replicas: 4, minCount: 8 }], { minAvailable: 4 }).units(4, 9);
  stage.sync();
  expect([stage.evict('g0p0'), stage.evict('g0p1')]).toEqual(['201 cost 0', 'BudgetExhausted']);
});

test('X10 of two groups at once exactly one is taken', () => {
  const stage = tenOfEight({ minAvailable: 9 }).units(10, 8);
  stage.sync();
  expect([stage.evict('g0p0'), stage.evict('g1p0')]).toEqual(['201 cost 1', 'BudgetExhausted']);
});

test('X11 more groups than declared count as healthy', () => {
  const stage = new Stage([{ replicas: 1, minCount: 2 }], { minAvailable: 1 }).units(2, 2);
  expect(stage.sync()).toMatchObject({ E: 1, C: 2, A: 1 });
});

test('X12 a group is available from its minimum on, whatever its size', () => {
  const stage = new Stage([{ replicas: 1, minCount: 8 }], { minAvailable: 0 }).units(1, 9);
  stage.member('g0p8', '0', { ready: false });
  expect(stage.sync().C).toBe(1);
  stage.index.deletePod('default', 'g0p7');
  stage.index.deletePod('default', 'g0p8');
  expect(stage.sync().C).toBe(0);
});

test('T74 an eviction waits while the published numbers are in the wrong unit', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  stage.workload([{ replicas: 2 }]);
  expect(stage.evict('g0p0')).toBe('ModeNotObserved');
  stage.sync();
  expect(stage.evict('g0p0')).toBe('201 cost 1');
  stage.workload([{ replicas: 2, minCount: 3 }]);
  expect(stage.evict('g0p1')).toBe('ModeNotObserved');
});

test('18.2: a budget that has counted groups goes on until its controller writes that pods count', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  stage.workload(undefined);
  const settling = stage.index.count('default', 'foo', stage.now);
  expect(settling).toMatchObject({ mode: { unit: 'PodGroup', settling: 'WorkloadNotFound' }, healthy: 0 });
  expect(settling?.expectedUnits, 'as last published').toBe(2);
  expect(stage.evict('g0p0')).toBe('NotSettled');
  const settled = stage.index.count('default', 'foo', stage.now, { settled: true });
  expect(settled).toMatchObject({ mode: { unit: 'Pod', reason: 'WorkloadNotFound', fallback: true }, healthy: 6 });
  stage.sync();
  expect(stage.evict('g0p0'), 'a budget that has never counted groups counts pods at once').toBe('201 cost 1');
});

test('18.2: what can be proven is granted while another group is unresolved; its pods are not', () => {
  const stage = new Stage([{ replicas: 3, minCount: 2 }], { minAvailable: 1 }).units(2, 2);
  stage.sync();
  stage.member('h0p0', '0', { group: 'missing' });
  expect(stage.evict('h0p0')).toBe('NotSettled');
  expect([stage.evict('g0p0'), stage.evict('g0p1'), stage.evict('g1p0')]).toEqual([
    '201 cost 1',
    '201 cost 0',
    'NotSettled',
  ]);
});

test('18.2: a budget without pods remembers that it counted groups', () => {
  const stage = new Stage([{ replicas: 1, minCount: 1 }], { minAvailable: 1 }).units(1, 1);
  stage.sync();
  stage.index.deletePod('default', 'g0p0');
  stage.workload(undefined);
  expect(stage.index.count('default', 'foo', stage.now)?.mode).toMatchObject({
    unit: 'PodGroup',
    reason: 'GroupUnits',
  });
  stage.units(1, 1);
  expect(stage.evict('g0p0')).toBe('NotSettled');
});

test('T75 basic pods beside gangs are left out of the count', () => {
  const groups = [
    { name: 'g', replicas: 1, minCount: 2 },
    { name: 'b', replicas: 1 },
  ];
  const stage = new Stage(groups, { minAvailable: 1 }).units(1, 2).units(1, 3, { group: 'b' });
  expect(stage.sync()).toMatchObject({ E: 1, C: 1, mode: 'GroupUnits' });
  expect(stage.index.count('default', 'foo', NOW)?.mode.individual).toBe(3);
  expect(stage.evict('b0p0')).toBe('201 cost 0');
});

test('T76 R-11 a controller whose pods name their group only in part is counted in pods', () => {
  const stage = new Stage([{ replicas: 1, minCount: 2 }], { minAvailable: 1 }).units(1, 2, { owner: 'rs' });
  stage.index.setPod(pod('stray', { owner: 'rs' }));
  expect(stage.sync()).toMatchObject({ E: 3, mode: 'PartiallyLabelled' });
});

test('T77 members outside the selector hold their group up', () => {
  const stage = new Stage([{ replicas: 2, minCount: 8 }], { minAvailable: 1 });
  stage.units(2, 8, { labels: { app: 'other' } });
  for (const unit of ['0', '1']) stage.member(`g${unit}p0`, unit, { labels: { app: 'a' } });
  expect(stage.sync()).toMatchObject({ E: 2, C: 2, A: 1 });
});

test('T78 a Pending member is exempt', () => {
  const stage = tenOfEight({ minAvailable: 10 }).units(10, 8).member('g0p0', '0', { phase: 'Pending', ready: false });
  stage.sync();
  expect(stage.evict('g0p0')).toBe('201 cost none');
});

test('T79 percentages over ten groups round up', () => {
  expect(tenOfEight({ minAvailable: '85%' }).units(10, 8).sync().D).toBe(9);
  expect(tenOfEight({ maxUnavailable: '15%' }).units(10, 8).sync().D).toBe(8);
});

test('T80 a pod evicted again costs nothing more', () => {
  const stage = tenOfEight({ minAvailable: 9 }).units(10, 8);
  stage.sync();
  stage.evict('g0p0');
  expect(stage.evict('g0p0')).toBe('201 cost 0');
  expect(stage.allowed).toBe(0);
});

test('B-02 the pods of a node are refused together where one by one the first would go', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  const onNode = ['g0p2', 'g1p0'].map((name) => ({ namespace: 'default', name }));
  const joint = decideTogether(stage.index, onNode, NOW);
  expect(joint.allowed).toBe(false);
  expect(joint.steps.map(({ verdict }) => verdict.reason)).toEqual(['WithinBudget', 'BudgetExhausted']);
});

test('B-03 two pods of one group go together for one charge', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  const onNode = ['g0p0', 'g0p1'].map((name) => ({ namespace: 'default', name }));
  const joint = decideTogether(stage.index, onNode, NOW);
  expect(joint.allowed).toBe(true);
  expect(joint.steps.map(({ verdict }) => verdict.reason)).toEqual(['WithinBudget', 'GroupAlreadyDown']);
});

test('18.9: a member that the budget does not select goes last, and its group counts as smaller without it', () => {
  const stage = new Stage([{ replicas: 2, minCount: 2 }], { minAvailable: 1 }).units(2, 2);
  for (const unit of ['0', '1']) stage.member(`g${unit}a`, unit, { labels: { app: 'other' } });
  stage.sync();
  const judge = (...names: string[]) =>
    decideTogether(
      stage.index,
      names.map((name) => ({ namespace: 'default', name })),
      NOW,
    ).steps.map(({ pod: { name }, verdict }) => `${name} ${verdict.reason}`);
  expect(judge('g0a', 'g0p0')).toEqual(['g0p0 GroupHasSpare', 'g0a NoBudget']);
  const account = openAccount(stage.index, NOW);
  const next = (name: string) => account([{ namespace: 'default', name }]).steps[0]?.verdict.reason;
  expect(['g0a', 'g0p0', 'g1a', 'g1p0'].map(next)).toEqual(['NoBudget', 'WithinBudget', 'NoBudget', 'BudgetExhausted']);
});

test('B-04 the same layout counted in pods breaks both groups', () => {
  const stage = new Stage(
    [{ replicas: 2, minCount: 3 }],
    { minAvailable: 3 },
    {
      annotations: { 'policy.quorate.dev/budget-scope': 'Pod' },
    },
  ).units(2, 3);
  expect(stage.sync()).toMatchObject({ E: 6, C: 6, D: 3, A: 3, mode: 'PodScope' });
  const onNode = ['g0p2', 'g1p0'].map((name) => ({ namespace: 'default', name }));
  expect(decideTogether(stage.index, onNode, NOW).allowed).toBe(true);
});

test('B-16 an approved eviction that never happens counts for two minutes', () => {
  const stage = new Stage([{ replicas: 2, minCount: 3 }], { minAvailable: 1 }).units(2, 3);
  stage.sync();
  stage.evict('g0p0');
  stage.now += 119_999;
  expect(stage.sync()).toMatchObject({ C: 1, A: 0 });
  stage.now += 1;
  expect(stage.sync()).toMatchObject({ C: 2, A: 1 });
});

test('B-18 with explicit scope a missing group is one unhealthy unit and its pods stay', () => {
  const stage = new Stage(
    [{ replicas: 1, minCount: 3 }],
    { minAvailable: 0 },
    {
      annotations: { 'policy.quorate.dev/budget-scope': 'PodGroup' },
    },
  ).units(1, 3);
  stage.index.setPod(member('lost', { workload: 'nowhere', key: '0' }));
  expect(stage.sync()).toMatchObject({ E: 2, C: 1, mode: 'PodGroupResolutionFailed' });
  expect(stage.evict('lost')).toBe('GroupUnresolved');
});

test('B-19 with explicit scope each individual pod is an unhealthy unit', () => {
  const stage = new Stage(
    [{ replicas: 1, minCount: 3 }],
    { maxUnavailable: 1 },
    {
      annotations: { 'policy.quorate.dev/budget-scope': 'PodGroup' },
    },
  ).units(1, 3);
  stage.index.setPod(pod('single'));
  expect(stage.sync()).toMatchObject({ E: 2, C: 1, D: 1, A: 0 });
});

test('B-20 an unready member outside the selector takes its group down', () => {
  const stage = new Stage([{ replicas: 1, minCount: 3 }], { minAvailable: 1 }).units(1, 3);
  stage.member('g0p0', '0', { labels: { role: 'leader' }, ready: false });
  expect(stage.sync()).toMatchObject({ E: 1, C: 0 });
});

test('B-26 two families in one budget add up', () => {
  const groups = [
    { name: 'g', replicas: 4, minCount: 1 },
    { name: 'h', replicas: 2, minCount: 1 },
  ];
  const stage = new Stage(groups, { minAvailable: 5 }).units(4, 1).units(2, 1, { group: 'h' });
  expect(stage.sync()).toMatchObject({ E: 6, C: 6, A: 1 });
  expect(stage.index.count('default', 'foo', NOW)?.families).toBe(2);
});
