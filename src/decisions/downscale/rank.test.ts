import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deletionCostOf, parseDeletionCost } from './deletion-cost.ts';
import { HOUR, MONTH, NOW, pod, type PodSketch, SECOND } from './fixtures.ts';
import { rankByColocation } from './colocation.ts';
import { ageBin, RankedPod } from './pod-facts.ts';
import { chooseVictims, type Ranks, separatingRule } from './rank.ts';
import { downscaleRules, type RuleName } from './rules.ts';

interface PairCase {
  readonly name: string;
  /** Goes first. */
  readonly first: PodSketch;
  readonly second: PodSketch;
  readonly rule: RuleName;
  /** Colocation ranks of the two. */
  readonly ranks?: readonly [number, number];
  readonly deletionCost?: boolean;
}

const CASES: readonly PairCase[] = [
  {
    name: 'D1 unassigned before pending assigned of higher rank',
    first: { node: '', phase: 'Pending', ready: false },
    second: { phase: 'Pending', ready: false },
    ranks: [1, 2],
    rule: 'Unassigned',
  },
  {
    name: 'D1 unassigned before pending assigned of lower rank',
    first: { node: '', phase: 'Pending', ready: false },
    second: { phase: 'Pending', ready: false },
    ranks: [2, 1],
    rule: 'Unassigned',
  },
  {
    name: 'D2 Pending before Unknown whatever the ranks',
    first: { phase: 'Pending', ready: false },
    second: { phase: 'Unknown', ready: false },
    ranks: [1, 2],
    rule: 'Phase',
  },
  {
    name: 'D2 Unknown before Running unready whatever the ranks',
    first: { phase: 'Unknown', ready: false },
    second: { ready: false },
    ranks: [1, 2],
    rule: 'Phase',
  },
  {
    name: 'D2 Pending before Running unready whatever the ranks',
    first: { phase: 'Pending', ready: false },
    second: { ready: false },
    ranks: [1, 2],
    rule: 'Phase',
  },
  {
    name: 'D3 unready before Ready with zero ready-time',
    first: { ready: false },
    second: { readyAgo: null },
    ranks: [1, 2],
    rule: 'NotReady',
  },
  {
    name: 'D4 zero ready-time before Ready now at equal rank',
    first: { readyAgo: null },
    second: { readyAgo: 0 },
    ranks: [1, 1],
    rule: 'ReadyTime',
  },
  {
    name: 'D4 rank 2 before a zero ready-time of rank 1',
    first: { readyAgo: 0 },
    second: { readyAgo: null },
    ranks: [2, 1],
    rule: 'Colocation',
  },
  {
    name: 'D5 Ready now before Ready a month ago',
    first: { readyAgo: 0 },
    second: { readyAgo: MONTH },
    rule: 'ReadyTime',
  },
  { name: 'D6 more restarts at the same ready-time', first: { restarts: 9001 }, second: {}, rule: 'Restarts' },
  {
    name: 'D6 rank 2 before restarts',
    first: {},
    second: { restarts: 9001 },
    ranks: [2, 1],
    rule: 'Colocation',
  },
  {
    name: 'D7 more sidecar restarts at equal restarts',
    first: { sidecarRestarts: 9001 },
    second: { sidecarRestarts: 0 },
    rule: 'Restarts',
  },
  {
    name: 'D8 created now before created a month ago',
    first: { createdAgo: 0 },
    second: { createdAgo: MONTH },
    rule: 'CreationTime',
  },
  {
    name: 'D9 lower cost before higher rank',
    first: { cost: '10' },
    second: { cost: '100' },
    ranks: [2, 1],
    rule: 'DeletionCost',
  },
  {
    name: 'D9 rank decides with the cost gate off',
    first: { cost: '100' },
    second: { cost: '10' },
    ranks: [2, 1],
    deletionCost: false,
    rule: 'Colocation',
  },
  {
    name: 'D10 Ready 2 h before 5 h',
    first: { readyAgo: 2 * HOUR },
    second: { readyAgo: 5 * HOUR },
    rule: 'ReadyTime',
  },
  {
    name: 'D11 same bin, lower UID first',
    first: { readyAgo: 8 * HOUR, uid: 'a' },
    second: { readyAgo: 5 * HOUR, uid: 'b' },
    rule: 'ReadyTime',
  },
  {
    name: 'D12 the UID decides before restarts',
    first: { readyAgo: 8 * HOUR, uid: 'a' },
    second: { readyAgo: 5 * HOUR, uid: 'b', restarts: 50 },
    rule: 'ReadyTime',
  },
  { name: 'D14 a negative cost before none', first: { cost: '-5' }, second: {}, rule: 'DeletionCost' },
  { name: 'D15 no phase before Running', first: { phase: '', ready: false }, second: { ready: false }, rule: 'Phase' },
  {
    name: 'D16 a ready-time in the future before a second ago',
    first: { readyAgo: -HOUR },
    second: { readyAgo: SECOND },
    rule: 'ReadyTime',
  },
];

for (const { deletionCost = true, first, name, ranks = [1, 1], rule, second } of CASES) {
  test(`${name}, both directions and equality`, () => {
    const pods = [pod({ name: 'first', ...first }), pod({ name: 'second', ...second })];
    const [a, b] = pods.map((each, index) => new RankedPod(each, ranks[index] as number, NOW));
    const rules = downscaleRules({ rankedBy: 'Colocation', deletionCost, ageBins: true });
    const deciding = separatingRule(rules, a!, b!);
    expect(deciding?.name).toBe(rule);
    expect(deciding?.compare(a!, b!)).toBeLessThan(0);
    expect(deciding?.compare(b!, a!)).toBeGreaterThan(0);
    expect(separatingRule(rules, a!, a!)).toBeUndefined();
    expect(separatingRule(rules, b!, b!)).toBeUndefined();
  });
}

test.each(['+10', '008', '', 'x', '2147483648', '-2147483649', '1.5', '-0', ' 1'])(
  'D13 cost %j counts as 0',
  (cost) => {
    expect(parseDeletionCost(cost)).toBeUndefined();
    expect(deletionCostOf(pod({ cost }))).toBe(0);
  },
);

test('D13 the 32-bit limits and zero are costs', () => {
  expect(['0', '-2147483648', '2147483647'].map(parseDeletionCost)).toEqual([0, -2147483648, 2147483647]);
});

const TIED: Ranks = { by: 'Tied' };
const names = (sketches: readonly PodSketch[], count: number, ranks: Ranks = TIED): (string | undefined)[] =>
  chooseVictims({ pods: sketches.map(pod), count, ranks, now: NOW }).map((victim) => victim.pod.metadata.name);

test('D17 all go in the order given when the count covers them, none at 0', () => {
  const sketches = [{ name: 'z' }, { name: 'a', ready: false }];
  expect(names(sketches, 2)).toEqual(['z', 'a']);
  expect(names(sketches, 7)).toEqual(['z', 'a']);
  expect(names(sketches, 0)).toEqual([]);
  const victims = chooseVictims({ pods: sketches.map(pod), count: 2, ranks: TIED, now: NOW });
  expect(victims.map(({ reason }) => reason)).toEqual(['AllPods', 'AllPods']);
});

test('D18 the pod on the node with more related pods goes', () => {
  const related = [pod({ name: 'x', node: 'n1' }), pod({ name: 'y', node: 'n2' }), pod({ name: 'z', node: 'n2' })];
  const sketches = [
    { name: 'a', node: 'n1' },
    { name: 'b', node: 'n2' },
  ];
  expect(names(sketches, 1, rankByColocation(related))).toEqual(['b']);
});

test('D19 without related pods rule 5 is inert', () => {
  const ranks = rankByColocation([]);
  const sketches = ['a', 'b', 'c'].map((name) => ({ name, node: 'n1', restarts: 0 }));
  expect(names([...sketches, { name: 'd', node: 'n2', restarts: 3 }], 1, ranks)).toEqual(['d']);
});

test('D20 pods of siblings count on their node, Pending ones too, each UID once', () => {
  const sibling = pod({ name: 's1' });
  const ranks = rankByColocation([sibling, sibling, pod({ name: 's2', phase: 'Pending', ready: false })]);
  expect(ranks).toEqual({ by: 'Colocation', perNode: new Map([['n1', 2]]) });
});

test('D21 terminating and finished pods of siblings do not count', () => {
  const related = [
    pod({ name: 'a', terminating: true }),
    pod({ name: 'b', phase: 'Succeeded' }),
    pod({ name: 'c', phase: 'Failed' }),
  ];
  expect(rankByColocation(related)).toEqual({ by: 'Colocation', perNode: new Map() });
});

test('D22 unassigned, pending and unready go before Ready ones', () => {
  const sketches = [
    { name: 'ready-n1' },
    { name: 'ready-n2', node: 'n2' },
    { name: 'unready', ready: false },
    { name: 'pending', phase: 'Pending', ready: false },
    { name: 'unassigned', node: '', phase: 'Pending', ready: false },
  ];
  expect(names(sketches, 3)).toEqual(['unassigned', 'pending', 'unready']);
  const victims = chooseVictims({ pods: sketches.map(pod), count: 3, ranks: TIED, now: NOW });
  expect(victims.map(({ reason }) => reason)).toEqual(['Unassigned', 'Phase', 'NotReady']);
});

test('D23 the costlier pod survives, and at equal cost the one without restarts', () => {
  expect(
    names(
      [
        { name: 'dear', cost: '1000', restarts: 5 },
        { name: 'cheap', cost: '100' },
      ],
      1,
    ),
  ).toEqual(['cheap']);
  expect(
    names(
      [
        { name: 'shaky', cost: '7', restarts: 5 },
        { name: 'calm', cost: '7' },
      ],
      1,
    ),
  ).toEqual(['shaky']);
});

test('chooseVictims() falls back to names when no rule separates, and says so', () => {
  const victims = chooseVictims({
    pods: ['c', 'a', 'b'].map((name) => pod({ name, uid: 'same' })),
    count: 1,
    ranks: TIED,
    now: NOW,
  });
  expect(victims.map((victim) => [victim.pod.metadata.name, victim.reason])).toEqual([['a', 'Name']]);
});

test('ageBin() doubles at the documented edges', () => {
  const minutes = (value: number): number => ageBin(value * 60_000);
  expect(ageBin(0)).toBe(-1);
  expect(ageBin(-5)).toBe(-1);
  expect([36, 37, 73, 74].map(minutes)).toEqual([40, 41, 41, 42]);
  expect([2, 5, 8, 9, 10, 19, 20].map((hours) => ageBin(hours * HOUR))).toEqual([42, 44, 44, 44, 45, 45, 46]);
});

const sketches = fc.uniqueArray(
  fc.record({
    name: fc.string({ minLength: 1, maxLength: 4 }),
    node: fc.constantFrom('', 'n1', 'n2'),
    phase: fc.constantFrom('Pending', 'Running', 'Unknown'),
    ready: fc.boolean(),
    readyAgo: fc.constantFrom(null, 0, SECOND, HOUR, 5 * HOUR, 8 * HOUR),
    restarts: fc.nat(2),
    cost: fc.constantFrom('0', '5', 'x'),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 12 },
);

test('chooseVictims() does not depend on the order of its input, and never spares a pod that goes at a smaller count', () => {
  fc.assert(
    fc.property(sketches, fc.nat(12), (given, count) => {
      fc.pre(count < given.length);
      const forward = names(given, count);
      expect(names(given.toReversed(), count)).toEqual(forward);
      expect(names(given, Math.max(count - 1, 0))).toEqual(forward.slice(0, Math.max(count - 1, 0)));
      expect(new Set(forward).size).toBe(count);
    }),
  );
});

test('18.15: with LogarithmicScaleDown off the younger pod goes, where bins leave it to the UID', () => {
  const sketches = [
    { name: 'old', uid: '1', createdAgo: 8 * HOUR, readyAgo: 8 * HOUR },
    { name: 'young', uid: '2', createdAgo: 5 * HOUR, readyAgo: 5 * HOUR },
  ];
  const first = (ageBins: boolean) =>
    chooseVictims({ pods: sketches.map(pod), count: 1, ranks: TIED, now: NOW, ageBins })[0]?.pod.metadata.name;
  expect([first(true), first(false)]).toEqual(['old', 'young']);
});
