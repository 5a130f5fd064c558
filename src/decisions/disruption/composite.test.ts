import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeAllowed, computeDesired } from './arithmetic.ts';
import { readBudget } from './budget-facts.ts';
import { buildTree, distanceOf, minimumOfTree, unitInTree } from './composite.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, NOW, pod } from './fixtures.ts';
import { type CompositeFacts, type PodGroupFacts, readComposite, readPodGroup } from './group-facts.ts';
import { lookupIn, recount } from './recount.ts';
import { decideEviction, followers } from './verdict.ts';

interface Place {
  readonly parent?: string;
  readonly all?: boolean;
  readonly template?: string;
}

const specOf = ({ all = false, parent, template = 't' }: Place) => ({
  ...(parent !== undefined && { parentCompositePodGroupName: parent }),
  disruptionMode: all ? { all: {} } : { single: {} },
  workloadRef: { workloadName: 'w', templateName: template },
});

const composite = (
  name: string,
  { minGroupCount, ...place }: Place & { minGroupCount?: number } = {},
): CompositeFacts =>
  readComposite({
    metadata: { name },
    spec: {
      ...specOf(place),
      schedulingPolicy: minGroupCount === undefined ? { basic: {} } : { gang: { minGroupCount } },
    },
  } as never);

const leaf = (name: string, { minCount, ...place }: Place & { minCount?: number } = {}): PodGroupFacts =>
  readPodGroup({
    metadata: { name },
    spec: { ...specOf(place), schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } } },
  } as never);

const member = (group: string, at: number, ready = true) =>
  pod(`${group}-${at}`, { ready, spec: { schedulingGroup: { podGroupName: group } } });

/** Pairs of prefill (2 pods) and decode (1 pod), each below a root of its own. */
function pairs(count: number, { all, minGroupCount = 2 }: { all: boolean; minGroupCount?: number }): DisruptionIndex {
  const index = new DisruptionIndex();
  for (let at = 0; at < count; at += 1) {
    const root = `pair-${at}`;
    index.setComposite('default', root, composite(root, { all, minGroupCount, template: 'pair' }));
    for (const [role, minCount] of [
      ['prefill', 2],
      ['decode', 1],
    ] as const) {
      const name = `${root}-${role}`;
      index.setPodGroup('default', name, leaf(name, { parent: root, minCount, template: role }));
      for (let one = 0; one < minCount; one += 1) index.setPod(member(name, one));
    }
  }
  return index;
}

/** What the disruption controller would publish, with evictions that were let pass. */
function publish(index: DisruptionIndex, minAvailable: number, disrupted: Record<string, number> = {}) {
  const put = (status: [number, number, number, number]) =>
    index.setBudget(readBudget(budgetObject({ status, disrupted, conditions: [groupUnits], spec: { minAvailable } })));
  put([0, 0, 0, 0]);
  const count = index.count('default', 'foo', NOW);
  if (count === undefined) throw new Error('no budget');
  const desired = computeDesired(count.budget, count.expectedUnits);
  put([computeAllowed(count.healthy, desired, count.expectedUnits), count.healthy, desired, count.expectedUnits]);
  return { E: count.expectedUnits, C: count.healthy, D: desired, mode: count.mode };
}

const ask = (index: DisruptionIndex, name: string) => {
  const question = index.ask('default', name, NOW);
  if (question === undefined) throw new Error(`no pod ${name}`);
  return decideEviction(question);
};

test('GC-07 R-12 a composite of mode all over prefill and decode is one unit; where all are single, each group is one', () => {
  const whole = pairs(2, { all: true });
  expect(publish(whole, 1)).toMatchObject({ E: 2, C: 2, D: 1 });
  expect(whole.unitName('default', 'pair-0-decode-0', 'foo')).toBe('CompositePodGroup/pair-0');
  const single = pairs(2, { all: false });
  expect(publish(single, 1)).toMatchObject({ E: 4, C: 4, D: 1 });
  expect(single.unitName('default', 'pair-0-decode-0', 'foo')).toBe('PodGroup/pair-0-decode');
});

test('the highest ancestor that goes as one is the unit, whatever lies between', () => {
  const cell = composite('cell', { minGroupCount: 1 });
  const rack = composite('rack', { parent: 'cell', all: true });
  const replica = composite('replica', { parent: 'rack' });
  const podGroup = leaf('a', { parent: 'replica', minCount: 1 });
  const lookup = lookupIn({ composites: [cell, rack, replica], podGroups: [podGroup], workloads: [] });
  expect(unitInTree(podGroup, lookup)).toEqual({ kind: 'composite', composite: rack });
});

test('GC-08 with 2 of 3 children wanted, one down leaves the unit healthy and two do not', () => {
  const root = composite('root', { all: true, minGroupCount: 2 });
  const groups = ['a', 'b', 'c'].map((name) => leaf(name, { parent: 'root', minCount: 2 }));
  const index = new DisruptionIndex();
  index.setComposite('default', 'root', root);
  for (const group of groups) {
    index.setPodGroup('default', group.name, group);
    for (const at of [0, 1]) index.setPod(member(group.name, at));
  }
  expect(publish(index, 0)).toMatchObject({ E: 1, C: 1 });
  index.setPod(member('a', 0, false));
  expect(publish(index, 0)).toMatchObject({ E: 1, C: 1 });
  index.setPod(member('b', 0, false));
  expect(publish(index, 0)).toMatchObject({ E: 1, C: 0 });
});

test('surplus in one group does not make up for another; a basic composite or leaf needs one', () => {
  const groups = [leaf('a', { parent: 'root', minCount: 4 }), leaf('b', { parent: 'root', minCount: 2 })];
  const lookup = lookupIn({ composites: [], podGroups: groups, workloads: [] });
  const distance = (minGroupCount: number | undefined, up: Record<string, number>) =>
    distanceOf(
      lookup.tree(composite('root', minGroupCount === undefined ? {} : { minGroupCount })),
      (name) => up[name] ?? 0,
    );
  expect(distance(2, { a: 9, b: 1 })).toBe(1);
  expect(distance(2, { a: 4, b: 2 })).toBe(0);
  expect(distance(undefined, { b: 2 })).toBe(0);
  expect(distance(undefined, { a: 1 })).toBe(2);
  // A child that is not there yet counts as the largest that is.
  expect(minimumOfTree(lookup.tree(composite('root', { minGroupCount: 3 })))).toBe(4 + 2 + 4);
});

test.each([
  ['the parent is missing', [], 'CompositePodGroupNotFound'],
  ['the tree has no end', [composite('p1', { parent: 'p1', all: true })], 'TooManyLevels'],
  [
    'the tree has 5 levels',
    [1, 2, 3, 4].map((at) => composite(`p${at}`, at === 4 ? {} : { parent: `p${at + 1}` })),
    'TooManyLevels',
  ],
] as const)('GC-09 where %s, the reference is broken: groups settle, and then pods count', (_, composites, reason) => {
  const index = new DisruptionIndex();
  index.setPodGroup('default', 'g', leaf('g', { parent: 'p1', minCount: 1 }));
  index.setPod(member('g', 0));
  for (const one of composites) index.setComposite('default', one.name, one);
  expect(publish(index, 1).mode).toMatchObject({ unit: 'PodGroup', reason: 'Settling', settling: reason });
  expect(index.count('default', 'foo', NOW, { settled: true })?.mode).toMatchObject({ unit: 'Pod', reason });
});

test('a tree of 4 levels is followed to its root', () => {
  const chain = [1, 2, 3].map((at) => composite(`p${at}`, at === 3 ? { all: true } : { parent: `p${at + 1}` }));
  const index = new DisruptionIndex();
  index.setPodGroup('default', 'g', leaf('g', { parent: 'p1', minCount: 1 }));
  index.setPod(member('g', 0));
  for (const one of chain) index.setComposite('default', one.name, one);
  expect(publish(index, 1)).toMatchObject({ E: 1, C: 1 });
  expect(index.unitName('default', 'g-0', 'foo')).toBe('CompositePodGroup/p3');
});

test('GC-10 evicting one pod of a composite unit takes the whole unit, or is refused', () => {
  // One child is enough, so that the unit would pass for available again when one pod is gone.
  const index = pairs(2, { all: true, minGroupCount: 1 });
  publish(index, 1);
  const first = ask(index, 'pair-0-decode-0');
  if (!first.allowed || first.charge === undefined) throw new Error('refused');
  expect(first.charge.cost).toBe(1);
  const others = followers(first.charge).map(({ name }) => name);
  expect(others.sort()).toEqual(['pair-0-prefill-0', 'pair-0-prefill-1']);
  const going = Object.fromEntries(['pair-0-decode-0', ...others].map((name) => [name, NOW]));
  expect(publish(index, 1, going)).toMatchObject({ E: 2, C: 1 });
  expect(ask(index, 'pair-0-prefill-1')).toMatchObject({ allowed: true, reason: 'GroupAlreadyDown' });
  expect(ask(index, 'pair-1-prefill-0')).toMatchObject({ allowed: false, reason: 'BudgetExhausted' });
});

test('a budget that asks for both pairs lets nothing go, also not what a unit has to spare', () => {
  const index = pairs(2, { all: true, minGroupCount: 1 });
  publish(index, 2);
  for (const name of ['pair-0-decode-0', 'pair-0-prefill-1', 'pair-1-decode-0']) {
    expect(ask(index, name)).toMatchObject({ allowed: false, reason: 'BudgetExhausted' });
  }
  expect(index.publication('default', 'foo', NOW, {})?.disruptionsAllowed).toBe(0);
});

test('one number of pods says what a unit is short of, over the tree', () => {
  const index = pairs(2, { all: true });
  for (const at of [0, 1]) index.setPod(member('pair-0-prefill', at, false));
  publish(index, 2);
  // 4 are Ready; two more make the first pair whole.
  expect(index.publication('default', 'foo', NOW, {})).toMatchObject({ currentHealthy: 4, desiredHealthy: 6 });
});

test('GR-20 a PodGroup of mode all has no spare: one eviction costs, and all members go with it', () => {
  const index = new DisruptionIndex();
  for (const name of ['a', 'b']) {
    index.setPodGroup('default', name, leaf(name, { all: true, minCount: 2 }));
    for (const at of [0, 1, 2]) index.setPod(member(name, at));
  }
  publish(index, 2);
  expect(ask(index, 'a-0')).toMatchObject({ allowed: false, reason: 'BudgetExhausted' });
  publish(index, 1);
  const verdict = ask(index, 'a-0');
  if (!verdict.allowed || verdict.charge === undefined) throw new Error('refused');
  expect(followers(verdict.charge).map(({ name }) => name)).toEqual(['a-1', 'a-2']);
});

test('Kubernetes’ own group counts before the one that stands in for it', () => {
  const index = new DisruptionIndex();
  index.setPod(member('g', 0));
  index.setPodGroup('default', 'g', leaf('g', { minCount: 3 }), 'own');
  index.setPodGroup('default', 'g', leaf('g', { minCount: 2 }), 'native');
  publish(index, 0);
  const minimum = () => index.unitOf('default', 'g-0', 'foo', NOW)?.minCount;
  expect(minimum()).toBe(2);
  index.setPodGroup('default', 'g', undefined, 'native');
  expect(minimum()).toBe(3);
});

const place = fc.record({ parent: fc.option(fc.nat(3), { nil: undefined }), all: fc.boolean() });
const change = fc.oneof(
  fc.record({
    kind: fc.constant('composite' as const),
    at: fc.nat(3),
    place,
    needed: fc.integer({ min: 1, max: 3 }),
    gone: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('group' as const),
    at: fc.nat(3),
    place,
    minCount: fc.integer({ min: 1, max: 2 }),
    gone: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('pod' as const),
    group: fc.nat(3),
    at: fc.nat(1),
    ready: fc.boolean(),
    gone: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('evict' as const), group: fc.nat(3), at: fc.nat(1) }),
);

test('whatever the order of changes, the index says of trees what a count from nothing says', () => {
  const parentOf = ({ parent }: { parent: number | undefined }) =>
    parent === undefined ? {} : { parent: `c${parent}` };
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const index = new DisruptionIndex();
      const composites = new Map<string, CompositeFacts>();
      const podGroups = new Map<string, PodGroupFacts>();
      const pods = new Map<string, ReturnType<typeof member>>();
      const disrupted: Record<string, number> = {};
      for (const one of changes) {
        if (one.kind === 'composite') {
          const name = `c${one.at}`;
          const facts = composite(name, { ...parentOf(one.place), all: one.place.all, minGroupCount: one.needed });
          if (one.gone) composites.delete(name);
          else composites.set(name, facts);
          index.setComposite('default', name, one.gone ? undefined : facts);
        } else if (one.kind === 'group') {
          const name = `g${one.at}`;
          const facts = leaf(name, { ...parentOf(one.place), all: one.place.all, minCount: one.minCount });
          if (one.gone) podGroups.delete(name);
          else podGroups.set(name, facts);
          index.setPodGroup('default', name, one.gone ? undefined : facts);
        } else if (one.kind === 'pod') {
          const facts = member(`g${one.group}`, one.at, one.ready);
          if (one.gone) {
            pods.delete(facts.name);
            index.deletePod('default', facts.name);
          } else {
            pods.set(facts.name, facts);
            index.setPod(facts);
          }
        } else disrupted[`g${one.group}-${one.at}`] = NOW;
        const budget = readBudget(budgetObject({ disrupted, conditions: [groupUnits], spec: { minAvailable: 1 } }));
        index.setBudget(budget);
        const wanted = recount(
          budget,
          {
            pods: [...pods.values()],
            composites: [...composites.values()],
            podGroups: [...podGroups.values()],
            workloads: [],
          },
          NOW,
        );
        const count = index.count('default', 'foo', NOW);
        expect(count).toMatchObject({
          mode: wanted.mode,
          healthy: wanted.healthy,
          expectedUnits: wanted.expectedUnits,
        });
        for (const facts of pods.values()) {
          const { others: _, ...unit } = index.ask('default', facts.name, NOW)?.views[0]?.unit ?? {};
          expect(unit).toEqual(wanted.view(facts).unit ?? {});
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('a tree deeper than validation allows is not walked for ever', () => {
  const loop = composite('p', { parent: 'p', all: true });
  const childrenOf = () => ({ groups: [], composites: [loop] });
  expect(minimumOfTree(buildTree(loop, { childrenOf, minimumOf: () => 1 }))).toBeGreaterThan(0);
});
