import { expect, test } from 'vitest';
import { parseSchedule } from '../../../api/batch/index.ts';
import type { CronJob } from '../../../api/generated/batch-v1.ts';
import { decideDue, nextLookMs } from './due.ts';

const cronJob = (over: { last?: string; deadline?: number } = {}): CronJob => ({
  metadata: { name: 'c', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { schedule: '', jobTemplate: {}, startingDeadlineSeconds: over.deadline },
  status: { lastScheduleTime: over.last },
});
const due = (schedule: string, now: string, over?: Parameters<typeof cronJob>[0]): string => {
  const parsed = parseSchedule(schedule);
  if (parsed === undefined) return 'unreadable';
  const verdict = decideDue(cronJob(over), parsed, Date.parse(now));
  const text =
    'at' in verdict ? `${verdict.reason} ${new Date(verdict.at).toISOString().slice(0, 16)}` : verdict.reason;
  return 'manyMissed' in verdict && verdict.manyMissed ? `${text} many` : text;
};

const cases: { name: string; got: () => string; want: string }[] = [
  { name: 'is not due before its first moment', got: () => due('0 * * * *', '2026-01-01T00:59:59Z'), want: 'NotDue' },
  { name: 'is due at its moment', got: () => due('0 * * * *', '2026-01-01T01:00:00Z'), want: 'Due 2026-01-01T01:00' },
  {
    name: 'skips to the last missed moment',
    got: () => due('*/10 * * * *', '2026-01-01T03:05:00Z'),
    want: 'Due 2026-01-01T03:00',
  },
  {
    name: 'was served at its last moment',
    got: () => due('0 * * * *', '2026-01-01T01:30:00Z', { last: '2026-01-01T01:00:00Z' }),
    want: 'NotDue',
  },
  {
    name: 'says when many were missed',
    got: () => due('* * * * *', '2026-01-01T02:00:00Z'),
    want: 'Due 2026-01-01T02:00 many',
  },
  {
    name: 'does not start later than its deadline',
    got: () => due('0 * * * *', '2026-01-01T01:05:00Z', { deadline: 60 }),
    want: 'NotDue',
  },
  {
    name: 'starts late within its deadline',
    got: () => due('0 * * * *', '2026-01-01T01:05:00Z', { deadline: 600 }),
    want: 'Due 2026-01-01T01:00',
  },
  { name: 'takes ? for any', got: () => due('*/1 * * * ?', '2026-01-01T00:01:00Z'), want: 'Due 2026-01-01T00:01' },
  {
    name: 'counts day of month or day of week',
    got: () => due('0 0 13 * 5', '2026-01-02T00:00:00Z'),
    want: 'Due 2026-01-02T00:00',
  },
  {
    name: 'never comes on a day that does not exist',
    got: () => due('0 0 31 2 *', '2026-06-01T00:00:00Z'),
    want: 'NotDue',
  },
  { name: 'reads @every', got: () => due('@every 90s', '2026-01-01T00:01:30Z'), want: 'Due 2026-01-01T00:01' },
  { name: 'refuses six fields', got: () => due('0 0 * * * *', '2026-01-01T00:00:00Z'), want: 'unreadable' },
  { name: 'refuses dialects', got: () => due('0 0 L * *', '2026-01-01T00:00:00Z'), want: 'unreadable' },
];
for (const { got, name, want } of cases) test(`a CronJob ${name}`, () => expect(got()).toBe(want));

test('parseSchedule() reads times in their zone, over the change of clocks', () => {
  const schedule = parseSchedule('0 9 * * *', 'Europe/Berlin');
  expect(schedule?.next(Date.parse('2026-03-27T12:00:00Z'))).toBe(Date.parse('2026-03-28T08:00:00Z'));
  expect(schedule?.next(Date.parse('2026-03-28T12:00:00Z'))).toBe(Date.parse('2026-03-29T07:00:00Z'));
  expect(parseSchedule('0 9 * * *', 'Nowhere/Land')).toBeUndefined();
});

test('nextLookMs() is just after the next moment', () => {
  const schedule = parseSchedule('0 * * * *');
  expect(schedule && nextLookMs(schedule, Date.parse('2026-01-01T00:59:00Z'))).toBe(60_100);
});
