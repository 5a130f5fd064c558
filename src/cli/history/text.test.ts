import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../api/quorate/disruption-history.ts';
import { formatHistory, remarks } from './text.ts';

const entry = (more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id: 'a',
  at: '2026-11-17T10:00:00.000000Z',
  outcome: 'Granted',
  way: 'Eviction',
  voluntary: true,
  who: 'ada',
  namespace: 'ml',
  group: 'ml/PodGroup/trainer-0',
  pods: [{ name: 'trainer-0-0', uid: 'u', node: 'node-1' }],
  podsTotal: 1,
  ...more,
});

test('8.4: the table says when, what became of it, by whom, which group, how long it was down and why', () => {
  const lines = formatHistory(
    [
      entry({ cause: { kind: 'Maintenance', name: 'kernel' }, groupSeconds: 252, end: 'Whole' }),
      entry({ end: 'Open', who: undefined }),
      entry({ outcome: 'Refused', repeats: 40, reason: 'DisruptionBudget' }),
    ],
    'table',
  ).split('\n');
  expect(lines[0]).toMatch(/^TIME +OUTCOME +WAY +WHO +GROUP +PODS +CAUSE +DOWN +REASON/);
  expect(lines[1]).toMatch(/Granted +Eviction +ada +ml\/PodGroup\/trainer-0 +1 +Maintenance\/kernel +4m12s +-/);
  expect(lines[2]).toMatch(/ - +ml\/PodGroup\/trainer-0 +1 +- +open/);
  expect(lines[3]).toMatch(/Refused x40 .* - +DisruptionBudget$/);
});

test('8.4: csv has every field, and nothing in it breaks a line or is taken for a formula', () => {
  const message = 'Cannot evict pod, "now"\n=1+1';
  const [head = '', ...rest] = formatHistory([entry({ message, who: '=cmd' })], 'csv').split('\r\n');
  expect(head.split(',')).toHaveLength(28);
  expect(rest.join('\r\n')).toContain('"Cannot evict pod, ""now""\n=1+1"');
  expect(rest.join('\r\n')).toContain(",'=cmd,");
});

test('8.4: json is the entries as they are', () => {
  expect(JSON.parse(formatHistory([entry()], 'json'))).toEqual([entry()]);
});

test('RC-06: it is said how far back the record goes, and what may be missing', () => {
  const gap = { from: '2026-11-16T10:00:00.000000Z', to: '2026-11-16T11:00:00.000000Z' };
  const since = Date.parse('2026-11-01T00:00:00Z');
  expect(remarks({ entries: [entry()], from: '2026-11-10', gaps: [gap] }, since)).toEqual([
    'The record goes back to 2026-11-10.',
    'Pods may have gone unseen between 2026-11-16T10:00:00Z and 2026-11-16T11:00:00Z.',
  ]);
  expect(remarks({ entries: [entry()], from: '2026-11-10', gaps: [] }, Date.parse('2026-11-12T00:00:00Z'))).toEqual([]);
  expect(remarks({ entries: [], from: undefined, gaps: [] }, undefined)).toEqual(['Nothing has been recorded yet.']);
});
