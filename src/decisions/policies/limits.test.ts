import { expect, test } from 'vitest';
import type { DisruptionLimits, PolicyLedgerGroup } from '../../api/quorate/disruption-policy.ts';
import { formatMicroTime, formatTime } from '../../machinery/values/index.ts';
import { readPolicy } from './facts.ts';
import { chargedLedger, observedLedger, withNoticeEnded } from './ledger.ts';
import { checkLimits, type GroupNow } from './limits.ts';

const T0 = Date.parse('2026-11-18T12:00:00Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const policy = (limits: DisruptionLimits, ledger: PolicyLedgerGroup[] = []) =>
  readPolicy({
    metadata: { namespace: 'ml', name: 'nightly', uid: 'u', generation: 1 },
    spec: { selector: {}, limits },
    status: { ledger },
  });
const gang = (name: string, given: Partial<GroupNow> = {}): GroupNow => ({
  namespace: 'ml',
  group: `PodGroup/${name}`,
  isWhole: true,
  takesDown: true,
  wholeSince: T0 - 100 * HOUR,
  ...given,
});
const disrupted = (name: string, at: number, more: object = {}): PolicyLedgerGroup => ({
  group: `PodGroup/${name}`,
  firstWholeAt: formatTime(T0 - 100 * HOUR),
  disruptions: [{ at: formatMicroTime(at), way: 'Eviction', state: 'Gone', ...more }],
});
const ask = (limits: DisruptionLimits, ledger: PolicyLedgerGroup[], now: GroupNow, t: number) => {
  const refusal = checkLimits(policy(limits, ledger), now, t);
  return refusal === undefined ? 'allowed' : refusal;
};

test('DP-02: at most two in an hour, until exactly an hour after the first', () => {
  const limits = { maxDisruptions: [{ count: 2, per: '1h' }] };
  const ledger = [disrupted('a', T0), disrupted('b', T0 + 38 * MINUTE)];
  expect(ask(limits, ledger, gang('c'), T0 + 40 * MINUTE)).toEqual({
    policy: 'ml/nightly',
    reason: 'TimeBudgetSpent',
    message:
      'DisruptionPolicy ml/nightly does not allow ml/PodGroup/c to be disrupted now: 2 of 2 disruptions in 1h0m0s are used (a 12:00, b 12:38)',
    nextAllowed: T0 + HOUR,
  });
  expect(ask(limits, ledger, gang('c'), T0 + HOUR - 1)).toMatchObject({ reason: 'TimeBudgetSpent' });
  expect(ask(limits, ledger, gang('c'), T0 + HOUR)).toBe('allowed');
});

test('DP-03: no group twice within a day', () => {
  const limits = { minInterval: '24h' };
  const ledger = [disrupted('a', T0)];
  expect(ask(limits, ledger, gang('a'), T0 + 24 * HOUR - SECOND)).toMatchObject({
    reason: 'TooSoonForGroup',
    nextAllowed: T0 + 24 * HOUR,
  });
  expect(ask(limits, ledger, gang('a'), T0 + 24 * HOUR)).toBe('allowed');
  expect(ask(limits, ledger, gang('b'), T0)).toBe('allowed');
});

test('DP-04: a group that has just recovered is left alone, also from what nobody asked for', () => {
  const limits = { settle: { afterRecovery: '30m' } };
  const ledger = [{ ...disrupted('a', T0 - HOUR, { involuntary: true }), wholeAt: formatTime(T0) }];
  expect(ask(limits, ledger, gang('a'), T0 + 29 * MINUTE)).toMatchObject({
    reason: 'Settling',
    message: expect.stringMatching(/it has been whole for 29m, it needs 30m0s$/),
  });
  expect(ask(limits, ledger, gang('a'), T0 + 30 * MINUTE)).toBe('allowed');
});

test('DP-05: a group that never was whole is not touched while it starts, and nobody knows until when', () => {
  const limits = { settle: { afterStart: '10m' } };
  const starting = gang('a', { isWhole: false, wholeSince: undefined });
  expect(ask(limits, [], starting, T0)).toMatchObject({ reason: 'Starting', nextAllowed: undefined });
  const young = gang('a', { wholeSince: T0 - 2 * MINUTE });
  expect(ask(limits, [], young, T0)).toMatchObject({ reason: 'Starting', nextAllowed: T0 + 8 * MINUTE });
  expect(ask(limits, [], young, T0 + 8 * MINUTE)).toBe('allowed');
});

test('DP-06: so many seconds down in the last day, until the oldest has left it', () => {
  const limits = { maxDisruptionSecondsPerDay: 300 };
  const down = (seconds: number): PolicyLedgerGroup[] => [
    { group: 'PodGroup/a', down: [{ from: formatTime(T0), to: formatTime(T0 + seconds * SECOND), voluntary: true }] },
  ];
  expect(ask(limits, down(299), gang('a'), T0 + HOUR)).toBe('allowed');
  expect(ask(limits, down(300), gang('a'), T0 + HOUR)).toMatchObject({
    reason: 'DowntimeSpent',
    nextAllowed: T0 + 24 * HOUR + SECOND,
  });
  expect(ask(limits, down(300), gang('a'), T0 + 24 * HOUR)).toMatchObject({ reason: 'DowntimeSpent' });
  expect(ask(limits, down(300), gang('a'), T0 + 24 * HOUR + SECOND)).toBe('allowed');
});

test.each([
  ['DP-07', '2027-03-28T00:59:59Z', false],
  ['DP-07', '2027-03-28T01:00:00Z', true],
  ['DP-07', '2027-03-28T01:59:59Z', true],
  ['DP-07', '2027-03-28T02:00:00Z', false],
  ['DP-08', '2026-10-25T00:30:00Z', true],
  ['DP-08', '2026-10-25T01:30:00Z', false],
])('%s: a window at 02:30 in Berlin, at %s', (_, at, isOpen) => {
  const limits = { windows: [{ start: '02:30', duration: '1h', timeZone: 'Europe/Berlin' }] };
  const answer = ask(limits, [], gang('a'), Date.parse(at));
  if (isOpen) expect(answer).toBe('allowed');
  else expect(answer).toMatchObject({ reason: 'OutsideWindow' });
});

test('DP-09: a window of Friday night ends on Saturday', () => {
  const limits = { windows: [{ days: ['Fri'], start: '23:00', duration: '4h' }] };
  expect(ask(limits, [], gang('a'), Date.parse('2026-11-21T02:59:59Z'))).toBe('allowed');
  expect(ask(limits, [], gang('a'), Date.parse('2026-11-21T03:00:00Z'))).toMatchObject({
    reason: 'OutsideWindow',
    nextAllowed: Date.parse('2026-11-27T23:00:00Z'),
  });
});

test('DP-13: what disrupts nothing is no concern of limits, and what goes on with a disruption is part of it', () => {
  const limits = { maxDisruptions: [{ count: 0, per: '1h' }] };
  expect(ask(limits, [], gang('a', { takesDown: false }), T0)).toBe('allowed');
  expect(ask(limits, [], gang('a', { isWhole: false }), T0)).toBe('allowed');
  expect(ask(limits, [], gang('a'), T0)).toMatchObject({ reason: 'TimeBudgetSpent', nextAllowed: undefined });
  const underWay = [disrupted('a', T0 - SECOND, { state: 'Reserved' })];
  expect(ask(limits, underWay, gang('a'), T0)).toBe('allowed');
});

test('DP-16: a clock set back loosens nothing', () => {
  const limits = { minInterval: '1h', maxDisruptions: [{ count: 1, per: '1h' }] };
  const ledger = [disrupted('a', T0)];
  expect(ask(limits, ledger, gang('a'), T0 - 2 * HOUR)).toMatchObject({ reason: 'TimeBudgetSpent' });
  expect(ask({ minInterval: '1h' }, ledger, gang('a'), T0 - 2 * HOUR)).toMatchObject({ reason: 'TooSoonForGroup' });
});

test('DP-18: a group for which the ledger has no room is refused', () => {
  const ledger = Array.from({ length: 5000 }, (_, at) => ({ group: `PodGroup/g${at}` }));
  expect(ask({ minInterval: '1h' }, ledger, gang('a'), T0)).toMatchObject({ reason: 'LedgerFull' });
  expect(ask({ minInterval: '1h' }, ledger, gang('g7'), T0)).toBe('allowed');
});

test('DP-19: what nobody asked for counts only where all does', () => {
  const ledger = [disrupted('a', T0, { involuntary: true })];
  const limits = { maxDisruptions: [{ count: 1, per: '1h' }] };
  expect(ask(limits, ledger, gang('b'), T0 + MINUTE)).toBe('allowed');
  expect(ask({ ...limits, counts: 'All' }, ledger, gang('b'), T0 + MINUTE)).toMatchObject({
    reason: 'TimeBudgetSpent',
  });
});

test('a ledger follows a group down and up again, and keeps what limits ask about', () => {
  const facts = policy({ minInterval: '24h' });
  const see = (before: PolicyLedgerGroup[], isWhole: boolean, at: number): PolicyLedgerGroup[] =>
    observedLedger(facts, before, {
      groups: [{ group: 'PodGroup/a', isWhole, wholeSince: T0 - HOUR }],
      stays: () => false,
      now: at,
    });
  const first = see([], true, T0);
  expect(first).toEqual([{ group: 'PodGroup/a', firstWholeAt: '2026-11-18T11:00:00Z' }]);
  const group = { group: 'PodGroup/a', wholeSince: undefined };
  const granted = chargedLedger(
    { ledger: first },
    { group, pod: { name: 'a-0', uid: 'u0' }, by: 'admin', way: 'Eviction', now: T0 + MINUTE, begins: true },
  ).ledger;
  const down = see(granted ?? [], false, T0 + 2 * MINUTE);
  expect(down[0]).toMatchObject({ downSince: '2026-11-18T12:02:00Z', disruptions: [{ state: 'Gone', by: 'admin' }] });
  const up = see(down, true, T0 + 5 * MINUTE);
  expect(up[0]).toMatchObject({
    wholeAt: '2026-11-18T12:05:00Z',
    down: [{ from: '2026-11-18T12:02:00Z', to: '2026-11-18T12:05:00Z', voluntary: true }],
  });
  expect(up[0]).not.toHaveProperty('downSince');
  expect(see(up, true, T0 + 25 * HOUR)[0]).toEqual({
    group: 'PodGroup/a',
    firstWholeAt: '2026-11-18T11:00:00Z',
    wholeAt: '2026-11-18T12:05:00Z',
  });
  const failed = see(up, false, T0 + 10 * MINUTE);
  expect(failed[0]?.disruptions).toHaveLength(2);
  expect(failed[0]?.disruptions?.[1]).toMatchObject({ involuntary: true });
});

test('DP-15: what was let go and never went counts for two minutes and then no more', () => {
  const group = { group: 'PodGroup/a', wholeSince: T0 - HOUR };
  const charge = { group, pod: { name: 'a-0', uid: 'u0' }, by: 'admin', way: 'Eviction', now: T0, begins: true };
  const { ledger = [] } = chargedLedger({}, charge);
  const see = (at: number, stays: boolean): number | undefined =>
    observedLedger(policy({ minInterval: '24h' }), ledger, {
      groups: [{ group: 'PodGroup/a', isWhole: true, wholeSince: T0 - HOUR }],
      stays: () => stays,
      now: at,
    })[0]?.disruptions?.length;
  expect(see(T0 + 2 * MINUTE - 1, true)).toBe(1);
  expect(see(T0 + 2 * MINUTE, true)).toBeUndefined();
  expect(see(T0 + 2 * MINUTE, false)).toBe(1);
});

test('a disruption that is kept for a notice counts as begun now until two minutes after its deadline', () => {
  const limits = { maxDisruptions: [{ count: 1, per: '1m' }] };
  const group = { group: 'PodGroup/a', wholeSince: T0 - HOUR };
  const reserve = { notice: 'id', until: T0 + 10 * MINUTE };
  const charge = { group, pod: { name: 'a-0', uid: 'a-0' }, by: 'x', way: 'GroupEviction', begins: true, reserve };
  const { ledger = [] } = chargedLedger(undefined, { ...charge, now: T0 });
  expect(ledger[0]?.going).toBeUndefined();
  const asked = (t: number) => ask(limits, ledger, gang('b'), t);
  expect(asked(T0 + 11 * MINUTE)).toMatchObject({ reason: 'TimeBudgetSpent' });
  expect(asked(T0 + 12 * MINUTE)).toBe('allowed');
  // Its own members are part of it.
  expect(ask(limits, ledger, gang('a'), T0 + 11 * MINUTE)).toBe('allowed');
  expect(withNoticeEnded({ ledger }, { notice: 'id', begins: false, now: T0 })?.ledger).toEqual([
    { group: 'PodGroup/a', firstWholeAt: formatTime(T0 - HOUR) },
  ]);
  const begun = withNoticeEnded({ ledger }, { notice: 'id', begins: true, now: T0 + 5 * MINUTE })?.ledger;
  expect(begun?.[0]?.disruptions).toEqual([
    { at: formatMicroTime(T0 + 5 * MINUTE), by: 'x', way: 'GroupEviction', state: 'Reserved' },
  ]);
  expect(withNoticeEnded({ ledger }, { notice: 'other', begins: false, now: T0 })).toBeUndefined();
});
