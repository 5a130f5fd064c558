/**
 * The table of budgets over groups, each case by its number. Where two specifications differ, the one that rules over
 * PodDisruptionBudgets decides: an eviction that costs nothing still needs the budget to hold, and the disruption mode
 * of a PodGroup is the scheduler's business.
 */
import { expect, test } from 'vitest';
import { type BudgetOptions, budget, NOW, pod } from './fixtures.ts';
import { readPodGroup } from './group-facts.ts';
import { Stage } from './stage.fixture.ts';
import { decideTogether } from './together.ts';

const twoOfThree = (spec: BudgetOptions['spec'], more?: BudgetOptions) =>
  new Stage([{ replicas: 2, minCount: 3 }], spec, more).units(2, 3);

test('B-01 the second group of a node stays when the first has used the budget', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  stage.sync();
  expect([stage.evict('g0p2'), stage.evict('g1p0')]).toEqual(['201 cost 1', 'BudgetExhausted']);
});

test('B-05 all pods of one group go for one charge', () => {
  const stage = new Stage([{ replicas: 10, minCount: 8 }], { minAvailable: 9 }).units(10, 8);
  stage.sync();
  const inside = Array.from({ length: 8 }, (_, at) => stage.evict(`g4p${at}`));
  expect(inside).toEqual(['201 cost 1', ...Array.from({ length: 7 }, () => '201 cost 0')]);
  expect(stage.evict('g5p0')).toBe('BudgetExhausted');
});

test('B-06 members beyond the minimum go without a charge', () => {
  const stage = new Stage([{ replicas: 2, minCount: 8 }], { minAvailable: 1 }).units(2, 10);
  stage.sync();
  expect(['g0p0', 'g0p1', 'g0p2'].map((name) => stage.evict(name))).toEqual(['201 cost 0', '201 cost 0', '201 cost 1']);
});

test('B-07 counted in pods every group may lose one, counted in groups one group may', () => {
  const names = ['g0p0', 'g1p0', 'g2p0', 'g3p0'];
  const groups = [{ replicas: 4, minCount: 8 }];
  const annotations = { 'policy.quorate.dev/budget-scope': 'Pod' };
  const inPods = new Stage(groups, { minAvailable: 24 }, { annotations }).units(4, 8);
  inPods.sync();
  expect(names.map((name) => inPods.evict(name))).toEqual(names.map(() => '201 cost 1'));
  const inGroups = new Stage(groups, { minAvailable: 3 }).units(4, 8);
  inGroups.sync();
  expect(names.map((name) => inGroups.evict(name))).toEqual([
    '201 cost 1',
    ...names.slice(1).map(() => 'BudgetExhausted'),
  ]);
});

test('B-08 under mode all a surplus member is not free: its group goes as one', () => {
  const stage = new Stage([], { minAvailable: 1 });
  const spec = { schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode: { all: {} } };
  stage.index.setPodGroup('default', 'pg', readPodGroup({ metadata: { name: 'pg' }, spec } as never));
  for (const name of ['a', 'b', 'c']) {
    stage.index.setPod(pod(name, { spec: { schedulingGroup: { podGroupName: 'pg' } } }));
  }
  expect(stage.sync()).toMatchObject({ E: 1, C: 1, D: 1, A: 0 });
  expect([stage.evict('a'), stage.evict('b')]).toEqual(['BudgetExhausted', 'BudgetExhausted']);
});

test('B-09 with every group down nobody goes, unless unhealthy pods always may', () => {
  const spec = { minAvailable: 1 };
  for (const [policy, outcome] of [
    ['IfHealthyBudget', 'BudgetExhausted'],
    ['AlwaysAllow', '201 cost none'],
  ] as const) {
    const stage = twoOfThree({ ...spec, unhealthyPodEvictionPolicy: policy });
    stage.member('g0p0', '0', { ready: false }).member('g1p0', '1', { ready: false });
    expect(stage.sync()).toMatchObject({ C: 0, A: 0 });
    expect([stage.evict('g0p0'), stage.evict('g1p1')]).toEqual([outcome, outcome]);
  }
});

test('B-10 a group that is down goes on without a charge while the budget holds', () => {
  const stage = twoOfThree({ minAvailable: 1 }).member('g0p0', '0', { ready: false });
  expect(stage.sync()).toMatchObject({ C: 1, D: 1, A: 0 });
  expect([stage.evict('g0p1'), stage.evict('g1p0')]).toEqual(['201 cost 0', 'BudgetExhausted']);
});

test('B-11 a percentage is of the declared replicas', () => {
  const stage = new Stage([{ replicas: 10, minCount: 3 }], { minAvailable: '80%' }).units(9, 3);
  expect(stage.sync()).toMatchObject({ E: 10, C: 9, D: 8, A: 1 });
});

test('B-12 a percentage of maxUnavailable rounds up', () => {
  const stage = new Stage([{ replicas: 3, minCount: 3 }], { maxUnavailable: '30%' }).units(3, 3);
  expect(stage.sync()).toMatchObject({ E: 3, D: 2, A: 1 });
});

test('B-13 a declared group without pods is unavailable', () => {
  const stage = new Stage([{ replicas: 4, minCount: 3 }], { maxUnavailable: 1 }).units(3, 3);
  expect(stage.sync()).toMatchObject({ E: 4, C: 3, D: 3, A: 0 });
});

test('B-14 of two groups at once exactly one goes', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  expect(stage.sync().A).toBe(1);
  expect([stage.evict('g1p1'), stage.evict('g0p1')]).toEqual(['201 cost 1', 'BudgetExhausted']);
});

test('B-15 two members of one group at once go for one charge', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  stage.sync();
  expect([stage.evict('g1p1'), stage.evict('g1p2')]).toEqual(['201 cost 1', '201 cost 0']);
  expect(stage.allowed).toBe(0);
});

test('B-17 the rest of a half drained group waits when another group fails by itself', () => {
  const stage = new Stage([{ replicas: 3, minCount: 3 }], { minAvailable: 2 }).units(3, 3);
  stage.sync();
  expect(stage.evict('g0p0')).toBe('201 cost 1');
  stage.index.deletePod('default', 'g0p0');
  stage.sync();
  expect(stage.evict('g0p1')).toBe('201 cost 0');
  stage.member('g1p0', '1', { ready: false });
  stage.sync();
  expect([stage.evict('g0p2'), stage.evict('g2p0')]).toEqual(['BudgetExhausted', 'BudgetExhausted']);
});

test('B-21 without groups pods are counted as ever', () => {
  const stage = new Stage([], { minAvailable: 4 });
  for (let at = 0; at < 6; at += 1) stage.index.setPod(pod(`p${at}`, { ready: at > 0 }));
  expect(stage.sync()).toMatchObject({ E: 6, C: 5, D: 4, A: 1 });
  expect([stage.evict('p1'), stage.evict('p2')]).toEqual(['201 cost 1', 'BudgetExhausted']);
});

test('B-22 nobody goes before the status has caught up with the spec', () => {
  const stage = twoOfThree({ minAvailable: 1 }, { generation: 2, observed: 1 });
  stage.sync();
  expect(stage.evict('g0p0')).toBe('BudgetNotObserved');
});

test('B-24 a group that recovered gives the budget back', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  stage.sync();
  stage.evict('g0p0');
  stage.index.deletePod('default', 'g0p0');
  expect(stage.sync().A).toBe(0);
  stage.member('g0p9', '0');
  expect(stage.sync()).toMatchObject({ C: 2, A: 1 });
  expect(stage.evict('g1p0')).toBe('201 cost 1');
});

test('B-25 a pod of two budgets stays, and neither is charged', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  stage.sync();
  stage.index.setBudget(budget({ name: 'bar', spec: { minAvailable: 0 }, status: [2, 2, 0, 2] }));
  expect(stage.evict('g0p0')).toBe('MultipleBudgets');
  expect(stage.allowed).toBe(1);
});

test('B-27 the only group of a budget that allows none keeps its node', () => {
  const stage = new Stage([{ replicas: 1, minCount: 3 }], { maxUnavailable: 0 }).units(1, 3);
  expect(stage.sync()).toMatchObject({ E: 1, D: 1, A: 0 });
  const onNode = ['g0p0', 'g0p1', 'g0p2'].map((name) => ({ namespace: 'default', name }));
  const { allowed, steps } = decideTogether(stage.index, onNode, NOW);
  expect([allowed, steps[0]?.verdict.reason]).toEqual([false, 'BudgetExhausted']);
});

test('B-28 a group that is recreated as a whole after one eviction costs one charge', () => {
  const stage = twoOfThree({ minAvailable: 1 });
  stage.sync();
  expect(stage.evict('g0p1')).toBe('201 cost 1');
  for (const name of ['g0p0', 'g0p1', 'g0p2']) stage.index.deletePod('default', name);
  expect(stage.sync()).toMatchObject({ C: 1, A: 0 });
  for (const name of ['n0', 'n1', 'n2']) stage.member(name, '0');
  expect(stage.sync()).toMatchObject({ C: 2, A: 1 });
});

test('R0 a number of groups that the budget states is that of all its groups, whoever owns them', () => {
  const annotations = {
    'policy.quorate.dev/group-by': 'label:shard',
    'policy.quorate.dev/group-min-count': '2',
    'policy.quorate.dev/group-replicas': '2',
  };
  const stage = new Stage([], { maxUnavailable: 1 }, { annotations });
  const member = (shard: string, at: number) =>
    pod(`${shard}-${at}`, { owner: `rs-${shard}`, labels: { app: 'a', shard } });
  for (const at of [0, 1]) stage.index.setPod(member('x', at));
  // One of two is missing: nothing may go.
  expect(stage.sync()).toMatchObject({ E: 2, C: 1, D: 1, A: 0 });
  for (const at of [0, 1]) stage.index.setPod(member('y', at));
  expect(stage.sync()).toMatchObject({ E: 2, C: 2, D: 1, A: 1 });
  expect([stage.evict('x-0'), stage.evict('y-0'), stage.evict('x-1')]).toEqual([
    '201 cost 1',
    'BudgetExhausted',
    '201 cost 0',
  ]);
});
