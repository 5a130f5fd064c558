import { expect, test } from 'vitest';
import { validateWindows, type Window, WINDOW_DAYS } from '../../api/quorate/window.ts';
import { FieldPath, formatTime, type Random, seededRandom } from '../../machinery/values/index.ts';
import { OpenTimes } from './index.ts';

const at = (text: string): number => Date.parse(text);
const say = (windows: readonly Window[], text: string): string => {
  const answer = new OpenTimes(windows).at(at(text));
  const time = answer.open ? answer.until : answer.opensAt;
  return `${answer.open ? 'open' : 'closed'} ${time === undefined ? '' : formatTime(time)}`.trim();
};
const berlin: Window = { start: '02:30', duration: '1h', timeZone: 'Europe/Berlin' };
const friday: Window = { days: ['Fri'], start: '23:00', duration: '4h' };

const cases: readonly { name: string; windows: readonly Window[]; when: string; want: string }[] = [
  { name: 'no windows', windows: [], when: '2026-11-18T10:00:00Z', want: 'open' },
  {
    name: 'DP-07 before the gap',
    windows: [berlin],
    when: '2027-03-28T00:59:59Z',
    want: 'closed 2027-03-28T01:00:00Z',
  },
  {
    name: 'DP-07 first moment after the gap',
    windows: [berlin],
    when: '2027-03-28T01:00:00Z',
    want: 'open 2027-03-28T02:00:00Z',
  },
  { name: 'DP-07 its end', windows: [berlin], when: '2027-03-28T02:00:00Z', want: 'closed 2027-03-29T00:30:00Z' },
  {
    name: 'DP-08 the first of two',
    windows: [berlin],
    when: '2026-10-25T00:30:00Z',
    want: 'open 2026-10-25T01:30:00Z',
  },
  {
    name: 'DP-08 not the second',
    windows: [berlin],
    when: '2026-10-25T01:30:00Z',
    want: 'closed 2026-10-26T01:30:00Z',
  },
  { name: 'DP-09 over midnight', windows: [friday], when: '2026-11-21T02:59:59Z', want: 'open 2026-11-21T03:00:00Z' },
  {
    name: 'DP-09 the end is not in it',
    windows: [friday],
    when: '2026-11-21T03:00:00Z',
    want: 'closed 2026-11-27T23:00:00Z',
  },
  { name: 'its start is', windows: [friday], when: '2026-11-20T23:00:00Z', want: 'open 2026-11-21T03:00:00Z' },
  {
    name: 'days are local',
    windows: [{ ...friday, timeZone: 'Pacific/Auckland' }],
    when: '2026-11-20T09:59:59Z',
    want: 'closed 2026-11-20T10:00:00Z',
  },
  {
    name: 'touching windows are one',
    windows: [
      { start: '02:00', duration: '2h' },
      { start: '04:00', duration: '1h' },
    ],
    when: '2026-11-18T02:10:00Z',
    want: 'open 2026-11-18T05:00:00Z',
  },
  {
    name: 'overlapping windows are one',
    windows: [
      { start: '02:00', duration: '3h' },
      { start: '03:00', duration: '1h' },
    ],
    when: '2026-11-18T03:10:00Z',
    want: 'open 2026-11-18T05:00:00Z',
  },
  {
    name: 'around the clock',
    windows: [{ start: '00:00', duration: '24h' }],
    when: '2026-11-18T03:10:00Z',
    want: 'open',
  },
  {
    name: 'a day that clocks skip',
    windows: [{ days: ['Fri'], start: '10:00', duration: '1h', timeZone: 'Pacific/Apia' }],
    when: '2011-12-30T09:59:00Z',
    want: 'closed 2011-12-30T10:00:00Z',
  },
];

for (const { name, want, when, windows } of cases) {
  test(`OpenTimes ${name}: ${when}`, () => expect(say(windows, when)).toBe(want));
}

test('OpenTimes answers the same whatever was asked before, and its ends are where answers change', () => {
  const random = seededRandom(11);
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kolkata'];
  for (let round = 0; round < 60; round += 1) {
    const windows = Array.from({ length: integer(random, 1, 3) }, () => drawWindow(random, zones));
    const used = new OpenTimes(windows);
    let moment = at('2026-03-01T00:00:00Z') + integer(random, 0, 300 * 24 * 3600) * 1000;
    for (let step = 0; step < 8; step += 1) {
      const fresh = new OpenTimes(windows).at(moment);
      expect(used.at(moment)).toEqual(fresh);
      const end = fresh.open ? fresh.until : fresh.opensAt;
      if (end === undefined) break;
      expect(end).toBeGreaterThan(moment);
      expect(new OpenTimes(windows).at(end - 1).open).toBe(fresh.open);
      expect(new OpenTimes(windows).at(end).open).toBe(!fresh.open);
      moment = end + integer(random, 0, 40) * 60_000;
    }
  }
});

const integer = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1));

function drawWindow(random: Random, zones: readonly string[]): Window {
  const two = (value: number): string => String(value).padStart(2, '0');
  return {
    days: WINDOW_DAYS.filter(() => integer(random, 0, 1) === 1),
    start: `${two(integer(random, 0, 23))}:${two(integer(random, 0, 59))}`,
    duration: `${integer(random, 1, 1440)}m`,
    timeZone: zones[integer(random, 0, zones.length - 1)],
  };
}

test('validateWindows() names every field that is wrong', () => {
  const bad: Window[] = [
    { days: ['Mon', 'Mon', 'Someday'], start: '24:00', duration: '59s', timeZone: 'Mars/Base' },
    { start: '', duration: '25h', timeZone: 'Local' },
    { start: '02:30', duration: '24h', timeZone: '+01:00' },
    { start: '00:00', duration: '' },
  ];
  expect(validateWindows(bad, FieldPath.of('spec').child('windows')).map(({ path }) => path)).toEqual([
    'spec.windows[0].days[1]',
    'spec.windows[0].days[2]',
    'spec.windows[0].start',
    'spec.windows[0].duration',
    'spec.windows[0].timeZone',
    'spec.windows[1].start',
    'spec.windows[1].duration',
    'spec.windows[1].timeZone',
    'spec.windows[2].timeZone',
    'spec.windows[3].duration',
  ]);
  expect(validateWindows(Array(17).fill(berlin), FieldPath.of('spec')).map(({ path }) => path)).toEqual(['spec']);
  expect(validateWindows([berlin, friday], FieldPath.of('spec'))).toEqual([]);
});

test('fits() finds where something begins and ends in one window, whose end is not in it', () => {
  const hour = 3_600_000;
  const windows = new OpenTimes([
    { start: '01:00', duration: '1h' },
    { start: '02:00', duration: '30m' },
    { start: '20:00', duration: '3h', days: ['Sat'] },
  ]);
  const at = (text: string) => Date.parse(text);
  const friday = '2026-11-20T';
  expect(windows.fits(at(`${friday}01:10:00Z`), hour)).toBe(at(`${friday}01:10:00Z`));
  // Windows that touch are one, until 02:30.
  expect(windows.fits(at(`${friday}01:30:00Z`), hour)).toBe(at('2026-11-21T01:00:00Z'));
  expect(windows.fits(at(`${friday}01:30:00Z`), hour - 1)).toBe(at(`${friday}01:30:00Z`));
  expect(windows.fits(at(`${friday}03:00:00Z`), 0)).toBe(at('2026-11-21T01:00:00Z'));
  expect(windows.fits(at(`${friday}01:00:00Z`), 2 * hour)).toBe(at('2026-11-21T20:00:00Z'));
  expect(windows.fits(at(`${friday}01:00:00Z`), 3 * hour)).toBeUndefined();
  expect(new OpenTimes([]).fits(7, 99 * hour)).toBe(7);
});
