import { expect, test } from 'vitest';
import { gatherGroups, groupIdentity, isGroupAvailable } from './groups.ts';
import { pruneLedger } from './ledger.ts';
import { computeNumbers } from './numbers.ts';

const podGroupPolicy = { groupLabelKey: 'g' };

const cases: [
  name: string,
  spec: Parameters<typeof computeNumbers>[0],
  expected: number,
  available: number,
  want: string,
][] = [
  ['C1', { maxUnavailable: '30%' }, 10, 10, '10/7/10/3'],
  ['C2', { maxUnavailable: '10%' }, 15, 15, '15/13/15/2'],
  ['C3', { maxUnavailable: '30%' }, 15, 10, '15/10/10/0'],
  ['C4', { maxUnavailable: 100 }, 10, 10, '10/0/10/10'],
  ['C5', { minAvailable: 100 }, 10, 5, '10/100/5/0'],
  ['C6', { minAvailable: '50%' }, 10, 5, '10/5/5/0'],
  ['C7', { maxUnavailable: '30%' }, 0, 10, '0/0/10/10'],
  ['C9', { maxUnavailable: '30%' }, 100, 80, '100/70/80/10'],
  ['C15', { maxUnavailable: 1 }, 10, 9, '10/9/9/0'],
  ['G1', { maxUnavailable: 1, podGroupPolicy }, 3, 3, '3/2/3/1'],
  ['G2', { maxUnavailable: 1, podGroupPolicy }, 3, 2, '3/2/2/0'],
  ['G7', { maxUnavailable: 2, minAvailable: 2, podGroupPolicy }, 3, 3, '3/2/3/1'],
  ['G8', { maxUnavailable: '25%', minAvailable: '70%', podGroupPolicy }, 5, 5, '5/4/5/1'],
  ['G9', { minAvailable: 4, podGroupPolicy }, 3, 3, '3/4/3/0'],
  ['G10', { maxUnavailable: 1, podGroupPolicy }, 3, 4, '3/2/4/2'],
  ['G11', { maxUnavailable: 1, podGroupPolicy }, 2, 3, '2/1/3/2'],
  ['G12', { maxUnavailable: 1, podGroupPolicy }, 0, 0, '0/0/0/0'],
];

for (const [name, spec, expected, available, want] of cases) {
  test(`computeNumbers() ${name}: total/desired/current/allowed is ${want}`, () => {
    const numbers = computeNumbers(spec, { expected, available });
    expect(`${numbers.total}/${numbers.desired}/${numbers.available}/${numbers.allowed}`).toBe(want);
  });
}

test('computeNumbers() H9 names the field that asks for more', () => {
  expect(
    computeNumbers({ maxUnavailable: 2, minAvailable: 2, podGroupPolicy }, { expected: 3, available: 3 }).constraint,
  ).toBe('minAvailable');
  expect(
    computeNumbers({ maxUnavailable: 1, minAvailable: 2, podGroupPolicy }, { expected: 3, available: 3 }).constraint,
  ).toBe('maxUnavailable');
});

test('groupIdentity() G13 keeps the groups of two LeaderWorkerSets apart; G15 an empty label is none', () => {
  const key = 'leaderworkerset.sigs.k8s.io/group-index';
  const labels = (set: string) => ({ 'leaderworkerset.sigs.k8s.io/name': set, [key]: '0' });
  expect(groupIdentity(key, labels('a'))).toBe('a/0');
  expect(groupIdentity(key, labels('b'))).toBe('b/0');
  expect(groupIdentity('g', { g: 'x' })).toBe('x');
  expect(groupIdentity('g', { g: '' })).toBeUndefined();
  expect(groupIdentity('g', undefined)).toBeUndefined();
});

test('18.15: a group is not available with fewer pods than asked for, whatever size it declares', () => {
  const group = { identity: 'a', size: 3, active: 3, ready: 3 } as never;
  expect(isGroupAvailable(group, 5)).toBe(false);
  expect(isGroupAvailable(group, 3)).toBe(true);
});

test('gatherGroups() counts available members and takes the largest declared size', () => {
  const member = (available: boolean, declaredSize?: number) => ({
    identity: 'a',
    active: true,
    available,
    declaredSize,
  });
  const groups = gatherGroups([member(true, 2), member(true, 3), member(false)]);
  expect(groups.get('a')).toEqual({ identity: 'a', active: 3, ready: 2, size: 3 });
  expect(isGroupAvailable(groups.get('a') as never, 3)).toBe(false);
  expect(isGroupAvailable(groups.get('a') as never, 2)).toBe(true);
});

const at = (seconds: number): number => Date.parse('2026-01-01T00:00:00Z') + seconds * 1000;
const entry = '2026-01-01T00:00:00Z';
const pods = (createdAtMs: number, active = true) => new Map([['p', { name: 'p', active, createdAtMs }]]);

test('pruneLedger() C10 drops a delete that was not carried out after more than 20 s', () => {
  expect(pruneLedger({ disruptedPods: { p: entry } }, pods(at(-60)), at(21))).toMatchObject({
    disruptedPods: {},
    notDeleted: ['p'],
  });
});

test('pruneLedger() C11 keeps it at exactly 20 s', () => {
  expect(pruneLedger({ disruptedPods: { p: entry } }, pods(at(-60)), at(20))).toMatchObject({
    disruptedPods: { p: entry },
    notDeleted: [],
    nextExpiryMs: at(20),
  });
});

test('pruneLedger() C12 drops an update silently after 10 s', () => {
  expect(pruneLedger({ unavailablePods: { p: entry } }, pods(at(-60)), at(11))).toMatchObject({
    unavailablePods: {},
    notDeleted: [],
  });
});

test('pruneLedger() C13 an entry is not inherited by a pod created after it', () => {
  expect(pruneLedger({ disruptedPods: { p: entry } }, pods(at(5)), at(6)).disruptedPods).toEqual({});
});

test('pruneLedger() forgets pods that are gone or inactive', () => {
  expect(pruneLedger({ disruptedPods: { p: entry } }, new Map(), at(1)).disruptedPods).toEqual({});
  expect(pruneLedger({ disruptedPods: { p: entry } }, pods(at(-60), false), at(1)).disruptedPods).toEqual({});
});
