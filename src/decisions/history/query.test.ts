import { expect, test } from 'vitest';
import type { DisruptionHistory, HistoryEntry } from '../../api/quorate/disruption-history.ts';
import { HISTORY_LIMITS } from '../../api/quorate/disruption-history.ts';
import { readRefusal } from './answers.ts';
import { hasRoomFor, historyName, overBounds } from './bounds.ts';
import { askHistory, type HistoryQuestion } from './query.ts';
import { Recoveries } from './recoveries.ts';

const entry = (id: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  at: `2026-11-${id}T10:00:00.000000Z`,
  outcome: 'Granted',
  way: 'Eviction',
  voluntary: true,
  who: 'ada',
  namespace: 'ml',
  group: 'ml/PodGroup/trainer-0',
  owner: 'Job/trainer-0',
  pods: [{ name: 'p', uid: id, node: 'node-1' }],
  podsTotal: 1,
  ...more,
});

const history = (name: string, entries: HistoryEntry[]): DisruptionHistory => ({
  metadata: { name, namespace: 'ml' },
  spec: { writer: 'leader', entries },
});

const refused = (id: string, at: string): HistoryEntry =>
  entry(id, { outcome: 'Refused', at, lastAt: at, repeats: 2, reason: 'DisruptionBudget', budgets: ['wide'] });

const ALL = [
  history('20261112-leader-00', [entry('12'), entry('13', { group: 'ml/Pod/web', who: 'bob' })]),
  history('20261110-leader-00', [entry('10', { pods: [{ name: 'p', uid: '10', node: 'node-2' }] })]),
  history('20261114-k-00', [refused('14', '2026-11-14T10:00:00.000000Z')]),
  history('20261114-l-00', [refused('14b', '2026-11-14T10:05:00.000000Z')]),
];

const ids = (question: HistoryQuestion): string[] => askHistory(ALL, question).entries.map(({ id }) => id);

test('8.4: the record is asked by group, node, budget, user, time and outcome', () => {
  expect(ids({})).toEqual(['10', '12', '13', '14']);
  for (const name of ['ml/PodGroup/trainer-0', 'PodGroup/trainer-0', 'trainer-0'])
    expect(ids({ about: { subject: 'group', name } })).toEqual(['10', '12', '14']);
  expect(ids({ about: { subject: 'group', name: '0' } })).toEqual([]);
  expect(ids({ about: { subject: 'node', name: 'node-2' } })).toEqual(['10']);
  expect(ids({ about: { subject: 'user', name: 'bob' } })).toEqual(['13']);
  for (const name of ['wide', 'ml/wide']) expect(ids({ about: { subject: 'budget', name } })).toEqual(['14']);
  expect(ids({ about: { subject: 'budget', name: 'web/wide' } })).toEqual([]);
  expect(ids({ since: Date.parse('2026-11-13T00:00:00Z') })).toEqual(['13', '14']);
  expect(ids({ outcome: 'Refused' })).toEqual(['14']);
  expect(askHistory(ALL, {}).from).toBe('2026-11-10');
});

test('RC-02: what several replicas refused is one entry to who reads', () => {
  expect(askHistory(ALL, { outcome: 'Refused' }).entries).toMatchObject([
    { repeats: 4, lastAt: '2026-11-14T10:05:00.000000Z' },
  ]);
});

test('RC-06: the oldest days go first, by age and by size, never those of today', () => {
  const now = Date.parse('2026-11-14T12:00:00Z');
  const kept = ['20261101', '20261112', '20261113', '20261114'].map((day) => ({
    namespace: 'ml',
    name: `${day}-leader-00`,
    bytes: 100,
    entries: 1,
  }));
  const dropped = (days: number, bytes: number): string[] =>
    overBounds(kept, { days, bytes }, now).map(({ name }) => name.slice(0, 8));
  expect(dropped(30, 1000)).toEqual([]);
  expect(dropped(13, 1000)).toEqual(['20261101']);
  expect(dropped(2, 1000)).toEqual(['20261101', '20261112']);
  expect(dropped(30, 250)).toEqual(['20261101', '20261112']);
  expect(dropped(30, 1)).toEqual(['20261101', '20261112', '20261113']);
});

test('8.2: an object takes 200 entries and 256 KiB, and is named by day, writer and number', () => {
  expect(historyName(Date.parse('2026-11-14T23:59:59Z'), 'leader', 3)).toBe('20261114-leader-03');
  expect(hasRoomFor(entry('12'), { bytes: 0, entries: HISTORY_LIMITS.entries - 1 })).toBe(true);
  expect(hasRoomFor(entry('12'), { bytes: 0, entries: HISTORY_LIMITS.entries })).toBe(false);
  expect(hasRoomFor(entry('12'), { bytes: HISTORY_LIMITS.bytes, entries: 1 })).toBe(false);
});

test('8.3: the median of the last five recoveries of a group, else of its owner, else of its namespace', () => {
  const took = (id: string, groupSeconds: number, more: Partial<HistoryEntry> = {}): HistoryEntry =>
    entry(id, { groupSeconds, wholeAt: `2026-11-${id}T10:10:00Z`, end: 'Whole', ...more });
  const recoveries = new Recoveries([
    ...[900, 10, 20, 30, 40, 50].map((seconds, at) => took(`1${at}`, seconds)),
    took('16', 100, { group: 'ml/PodGroup/a-0', owner: 'LeaderWorkerSet/a' }),
    took('17', 200, { group: 'ml/PodGroup/a-1', owner: 'LeaderWorkerSet/a' }),
    took('18', 7, { during: '17' }),
    took('19', 7, { end: 'Removed' }),
  ]);
  expect(recoveries.median({ namespace: 'ml', group: 'ml/PodGroup/trainer-0' })).toBe(30);
  expect(recoveries.median({ namespace: 'ml', group: 'ml/PodGroup/a-2', owner: 'LeaderWorkerSet/a' })).toBe(150);
  expect(recoveries.median({ namespace: 'ml', group: 'ml/PodGroup/new' })).toBe(50);
  expect(recoveries.median({ namespace: 'web', group: 'web/Pod/x' })).toBeUndefined();
});

test('8.1: a refusal names the budgets and policies that were asked, and its first cause', () => {
  const status = {
    message: 'DisruptionPolicy ml/nightly does not allow ml/PodGroup/a to be disrupted now: outside',
    reason: 'TooManyRequests',
    details: {
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget wide needs 2 healthy pods and has 2 currently' },
        { reason: 'DisruptionPolicy', message: 'DisruptionPolicy ml/nightly does not allow it' },
      ],
    },
  };
  expect(readRefusal(status)).toMatchObject({
    reason: 'DisruptionBudget',
    budgets: ['wide'],
    policies: ['ml/nightly'],
  });
  expect(readRefusal({ reason: 'InternalError' })).toEqual({
    reason: 'InternalError',
    message: '',
    budgets: [],
    policies: [],
  });
});
