/** How long a plan takes, and which of equal plans is the better one. */
import { expect, test } from 'vitest';
import type { PlanStep, PlanUnit, UnitEviction, UnitTime } from './model.ts';
import { comparePlans, type PlanStanding } from './plan.ts';
import { timeOf } from './time.ts';

const unit = (id: string, time?: UnitTime): PlanUnit => ({
  id,
  budgets: [],
  healthy: 1,
  needed: 1,
  wholesale: false,
  ...(time && { time }),
});
const down = (id: string): UnitEviction => ({
  unit: id,
  pods: [id],
  disrupts: true,
  where: {},
  confidence: { kind: 'exact' },
});
const step = (...units: string[]): PlanStep => ({ evictions: units.map(down), completes: [] });
const taking = (ready: number): UnitTime => ({ stop: 30, place: 2, ready });

test('PL-09: a step takes as long as its slowest group, and the plan as long as its steps', () => {
  const units = [unit('a', taking(60)), unit('b', taking(120)), unit('c', taking(60))];
  expect(timeOf([step('a', 'b'), step('c')], { units, nodesReturn: false })).toEqual({ seconds: 246, unknown: [] });
});

test('PL-10: a group whose start-up time nobody knows is counted and named', () => {
  const units = [unit('a', taking(60)), unit('b')];
  expect(timeOf([step('a', 'b')], { units, nodesReturn: false })).toEqual({ seconds: 93, unknown: ['b'] });
});

test('timeOf() waits for nodes that come back, one after the other, and only where they do', () => {
  const steps = [{ ...step('a'), completes: ['n1', 'n2'] }];
  const units = [unit('a', taking(0))];
  expect(timeOf(steps, { units, nodesReturn: true, nodeDowntimeSeconds: 60 }).seconds).toBe(33 + 120);
  expect(timeOf(steps, { units, nodesReturn: false, nodeDowntimeSeconds: 60 }).seconds).toBe(33);
});

test('timeOf() does not wait for a start that no step depends on', () => {
  const spare: PlanStep = { evictions: [{ ...down('a'), disrupts: false }], completes: [] };
  const units = [unit('a', taking(600))];
  expect(timeOf([spare], { units, nodesReturn: false }).seconds).toBe(31);
  expect(timeOf([spare, spare], { units, nodesReturn: false }).seconds).toBe(633 + 31);
});

test('timeOf() takes what the record says of a group for all of its absence, and says from where times are known', () => {
  const recorded: UnitTime = { ...taking(600), recovery: 45, by: 'Recorded' };
  const units = [unit('a', recorded), unit('b', { stop: 30, place: 2, recovery: 80, by: 'Recorded' }), unit('c')];
  const started: UnitTime = { ...taking(10), range: { from: 5, to: 20 }, by: 'Started' };
  const timeOfAll = (...steps: PlanStep[]) =>
    timeOf(steps, { units: [...units, unit('d', started)], nodesReturn: false });
  expect(timeOfAll(step('a'))).toEqual({ seconds: 46, unknown: [], by: { Recorded: 1 } });
  expect(timeOfAll(step('a', 'b'), step('c'))).toEqual({ seconds: 81 + 33, unknown: ['c'], by: { Recorded: 2 } });
  expect(timeOfAll(step('a'), step('d'), step('a'))).toEqual({
    seconds: 46 + 43 + 46,
    from: 46 + 38 + 46,
    to: 46 + 53 + 46,
    unknown: [],
    by: { Recorded: 1, Started: 1 },
  });
});

const standing = (over: Partial<PlanStanding>): PlanStanding => ({
  podsLeft: 0,
  disruptions: 2,
  seconds: 600,
  unknown: 0,
  steps: 2,
  text: '',
  ...over,
});

test.each([
  ['PL-11: three steps of 8 minutes come before two of 10', standing({ steps: 3, seconds: 480 }), standing({})],
  ['PL-10: a known time comes before one that may be longer', standing({}), standing({ seconds: 60, unknown: 1 })],
  ['fewer groups down come before time', standing({ seconds: 900 }), standing({ disruptions: 3 })],
  ['fewer pods left behind come first', standing({ disruptions: 9 }), standing({ podsLeft: 1 })],
  ['of equal times, fewer steps', standing({}), standing({ steps: 3 })],
])('comparePlans() %s', (_, better, worse) => {
  expect(comparePlans(better, worse)).toBeLessThan(0);
  expect(comparePlans(worse, better)).toBeGreaterThan(0);
});
