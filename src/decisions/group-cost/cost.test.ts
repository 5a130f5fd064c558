/** Which group goes first. */
import { expect, test } from 'vitest';
import { compareCost, type CostedUnit } from './compare.ts';
import { CHECKPOINT_SCALE, CHECKPOINT_TIME, costOf, type CostSources, DISRUPTION_COST } from './cost.ts';
import { costedUnit } from './unit.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const unit = (id: string, over: Partial<CostedUnit> = {}): CostedUnit => ({
  id,
  broken: false,
  cost: 0,
  priority: 0,
  startedAt: 0,
  pods: 4,
  ...over,
});
const first = (...units: CostedUnit[]): string | undefined => units.toSorted(compareCost)[0]?.id;

test.each([
  [
    'CO-01: a broken group goes before a cheap one',
    unit('A', { cost: -100 }),
    unit('B', { broken: true, cost: 500 }),
    'B',
  ],
  [
    'CO-02: of broken ones the cheaper, however broken',
    unit('B', { broken: true, cost: 5 }),
    unit('C', { broken: true, cost: 7 }),
    'B',
  ],
  ['CO-03: cost before priority', unit('A', { cost: 10 }), unit('B', { cost: 9, priority: 1000 }), 'B'],
  ['CO-03: of equal costs the lower priority', unit('A', { priority: 1 }), unit('B'), 'B'],
  ['CO-04: the younger', unit('A', { startedAt: NOW }), unit('B', { startedAt: NOW + 300_000 }), 'B'],
  ['CO-04: of equal ages the smaller', unit('A'), unit('B', { pods: 3 }), 'B'],
  ['CO-04: then by name', unit('ns/b'), unit('ns/a'), 'ns/a'],
])('%s', (_, a, b, wanted) => {
  expect(first(a, b)).toBe(wanted);
  expect(first(b, a)).toBe(wanted);
});

test('CO-02: a group with a member on its way out is broken, whole by count or not', () => {
  const pod = (name: string, deleting: boolean) => ({
    metadata: { name, ...(deleting && { deletionTimestamp: ago(1) }) },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const pods = [pod('a', false), pod('b', true)];
  expect(costedUnit({ id: 'D', pods, needed: 1, now: NOW })).toMatchObject({ broken: true });
  expect(costedUnit({ id: 'E', pods: [pod('a', false)], now: NOW })).toMatchObject({ broken: false });
});

const says = (value: string, more: Record<string, string> = {}) => ({ [DISRUPTION_COST]: value, ...more });
const cost = (over: Partial<CostSources>) => costOf({ members: [], startedAt: NOW - 600_000, now: NOW, ...over });

test('CO-05: what the group says counts, else the sum of what its members say', () => {
  const hundreds = [says('100'), says('100')];
  expect(cost({ objects: [undefined, says('5')], members: hundreds }).cost).toBe(5);
  expect(cost({ members: [says('7'), says('7'), undefined] }).cost).toBe(14);
});

test('CO-06: the oldest checkpoint counts, by the second and its scale', () => {
  const at = (seconds: number, more = {}) => says('checkpoint-age', { [CHECKPOINT_TIME]: ago(seconds), ...more });
  expect(cost({ members: [at(30), at(90)] })).toEqual({ cost: 90, warnings: [] });
  expect(cost({ objects: [at(90, { [CHECKPOINT_SCALE]: '10' })] }).cost).toBe(900);
  expect(cost({ members: [at(90), says('5')] }).cost).toBe(95);
});

test.each([ago(-300), 'yesterday', '2026-01-01T11:00:00'])(
  'CO-07: a checkpoint at %s is none: the group is as old as its start',
  (time) => {
    const answer = cost({ members: [says('checkpoint-age', { [CHECKPOINT_TIME]: time })] });
    expect(answer).toEqual({ cost: 600, warnings: [{ reason: 'CheckpointTimeInvalid', value: time }] });
  },
);

test.each(['+5', '05', ' 5', '5.0', '2147483648', '', 'checkpoint-Age'])('CO-08: %j is no cost', (value) => {
  const answer = cost({ members: [says(value)] });
  expect(answer).toEqual({ cost: 0, warnings: [{ reason: 'DisruptionCostInvalid', value }] });
});

test('CO-08: the lowest cost there is, and sums that stay within bounds', () => {
  expect(cost({ members: [says('-2147483647')] })).toEqual({ cost: -2147483647, warnings: [] });
  expect(cost({ members: [says('2147483647'), says('2147483647')] }).cost).toBe(2147483647);
});
