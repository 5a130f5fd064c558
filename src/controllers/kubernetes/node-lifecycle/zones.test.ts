import { expect, test } from 'vitest';
import { defaultZonePolicy, evictionRates } from './zones.ts';

const rates = (zones: Record<string, [ready: number, unready: number]>) =>
  Object.fromEntries(
    evictionRates(
      new Map(Object.entries(zones).map(([zone, [ready, unready]]) => [zone, { ready, unready }])),
      defaultZonePolicy,
    ),
  );

const cases: { name: string; given: Record<string, [number, number]>; want: Record<string, number> }[] = [
  { name: 'a single dead node at the normal rate', given: { a: [2, 1] }, want: { a: 0.1 } },
  { name: 'nothing from a small zone that is partly down', given: { a: [2, 8] }, want: { a: 0 } },
  { name: 'slowly from a large zone that is partly down', given: { a: [20, 80] }, want: { a: 0.01 } },
  {
    name: 'a dead zone at the normal rate while another lives',
    given: { a: [0, 9], b: [9, 0] },
    want: { a: 0.1, b: 0.1 },
  },
  { name: 'nothing when all zones are down', given: { a: [0, 9], b: [0, 1] }, want: { a: 0, b: 0 } },
];
for (const { given, name, want } of cases) {
  test(`evictionRates() evicts ${name}`, () => expect(rates(given)).toEqual(want));
}
