import { expect, test } from 'vitest';
import { type GroupCount, markOf } from './marks.ts';

const group = (over: Partial<GroupCount>): GroupCount => ({
  healthy: 4,
  needed: 4,
  members: 4,
  going: 0,
  starting: 0,
  ...over,
});

const cases = [
  { name: 'all members there, and it needs each', given: group({}), want: 'whole' },
  { name: 'more than it needs', given: group({ needed: 3 }), want: 'spare' },
  { name: 'its spare member lost', given: group({ needed: 3, healthy: 3 }), want: 'minimum' },
  { name: 'below its minimum', given: group({ healthy: 3 }), want: 'broken' },
  { name: 'below its minimum, the rest starting', given: group({ healthy: 3, starting: 1 }), want: 'placing' },
  { name: 'too few even when all have started', given: group({ healthy: 2, starting: 1 }), want: 'broken' },
  { name: 'a member leaving', given: group({ healthy: 3, going: 1 }), want: 'going' },
] as const;

for (const { given, name, want } of cases) {
  test(`markOf() ${name}: ${want}`, () => expect(markOf(given)).toBe(want));
}
