/** Which budgets a change of what says what a group is concerns: those, and not all of the namespace. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, NOW, podObject } from './fixtures.ts';
import { readComposite, readPodGroup, readWorkload } from './group-facts.ts';
import { readPod } from './pod-facts.ts';

const SET = 'leaderworkerset.sigs.k8s.io/name';
const INDEX = 'leaderworkerset.sigs.k8s.io/group-index';
const JOBSET = 'jobset.sigs.k8s.io';
const APPS = ['a', 'b', 'c'];
const BUDGETS = [
  ...APPS.map((app) => ({ name: app, selector: { matchLabels: { app } }, annotations: {} })),
  { name: 'all', selector: {}, annotations: {} },
  { name: 'sets', selector: {}, annotations: { 'policy.quorate.dev/group-by': 'leaderworkerset' } },
  { name: 'jobs', selector: {}, annotations: { 'policy.quorate.dev/group-by': 'jobset' } },
  { name: 'labels', selector: {}, annotations: { 'policy.quorate.dev/group-by': 'label:app' } },
];

const app = fc.constantFrom(...APPS);
const present = fc.boolean();
const count = fc.integer({ min: 0, max: 4 });
const composite = fc.constantFrom('t0', 't1', undefined);
const link = fc.oneof(
  fc.constant({}),
  fc.record({ schedulingGroup: fc.record({ podGroupName: fc.constantFrom('g0', 'g1', 'g2') }) }),
  fc.record({
    workloadRef: fc.record({ name: app, podGroup: fc.constant('g'), podGroupReplicaKey: fc.constant('0') }),
  }),
);
const markers = fc.oneof(
  fc.constant({}),
  fc.record({ [SET]: fc.constantFrom('s', 't'), [INDEX]: fc.constantFrom('0', '1') }),
  fc.record({
    [`${JOBSET}/jobset-name`]: fc.constant('j'),
    [`${JOBSET}/replicatedjob-name`]: fc.constant('r'),
    [`${JOBSET}/job-index`]: fc.constant('0'),
    'batch.kubernetes.io/job-name': fc.constantFrom('j-r-0', 'j-r-1'),
  }),
);

/** What happens to pods, and what happens to what says what a group is. */
const podStep = fc.record({
  kind: fc.constant('pod' as const),
  name: fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p4', 'p5'),
  labels: fc.record({ app, markers }),
  spec: link,
  ready: fc.boolean(),
});
const groupStep = fc.oneof(
  fc.record({ kind: fc.constant('workload' as const), name: app, present, minCount: count, replicas: count }),
  fc.record({
    kind: fc.constant('podGroup' as const),
    name: fc.constantFrom('g0', 'g1', 'g2', 'g3'),
    present,
    minCount: count,
    template: fc.option(app, { nil: undefined }),
    parent: composite,
  }),
  fc.record({
    kind: fc.constant('composite' as const),
    name: fc.constantFrom('t0', 't1'),
    present,
    needed: count,
    whole: fc.boolean(),
    template: fc.option(app, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('source' as const),
    key: fc.constantFrom('LeaderWorkerSet/s', 'LeaderWorkerSet/t', 'Job/j-r-0', 'Job/other'),
    present,
    size: count,
    replicas: fc.option(count, { nil: undefined }),
  }),
);
type GroupStep = typeof groupStep extends fc.Arbitrary<infer T> ? T : never;

const ref = (workload: string | undefined) =>
  workload !== undefined && { workloadRef: { workloadName: workload, templateName: 'g' } };

function take(index: DisruptionIndex, step: GroupStep): void {
  switch (step.kind) {
    case 'workload': {
      const policy = step.minCount === 0 ? { basic: {} } : { gang: { minCount: step.minCount } };
      const podGroups = [{ name: 'g', policy, replicas: step.replicas }];
      const facts = readWorkload({ metadata: { name: step.name }, spec: { podGroups } } as never);
      index.setWorkload('default', step.name, step.present ? facts : undefined);
      break;
    }
    case 'podGroup': {
      const policy = step.minCount === 0 ? {} : { schedulingPolicy: { gang: { minCount: step.minCount } } };
      const spec = { ...policy, ...ref(step.template), parentCompositePodGroupName: step.parent };
      const facts = readPodGroup({ metadata: { name: step.name }, spec } as never);
      index.setPodGroup('default', step.name, step.present ? facts : undefined);
      break;
    }
    case 'composite': {
      const spec = {
        schedulingPolicy: { gang: { minGroupCount: step.needed } },
        ...(step.whole && { disruptionMode: { all: {} } }),
        ...ref(step.template),
      };
      const facts = readComposite({ metadata: { name: step.name }, spec } as never);
      index.setComposite('default', step.name, step.present ? facts : undefined);
      break;
    }
    case 'source': {
      const { key, replicas, size } = step;
      index.setSource('default', key, step.present ? { key, source: { size, replicas } } : undefined);
    }
  }
}

function stage(): DisruptionIndex {
  const index = new DisruptionIndex();
  for (const { annotations, name, selector } of BUDGETS) {
    const spec = { minAvailable: 1, selector };
    const object = budgetObject({ name, annotations, spec, conditions: [groupUnits], status: [1, 1, 1, 1] });
    index.setBudget(readBudget(object, undefined));
  }
  return index;
}

const answersOf = (index: DisruptionIndex, name: string): string =>
  JSON.stringify([
    index.count('default', name, NOW),
    index.count('default', name, NOW, { settled: true }),
    index.publication('default', name, NOW, undefined),
  ]);

test('a budget whose numbers are others after a group changed is among those that are told', () => {
  let told = 0;
  let spared = 0;
  fc.assert(
    fc.property(fc.array(fc.oneof(podStep, groupStep), { minLength: 5, maxLength: 30 }), (steps) => {
      const index = stage();
      for (const step of steps) {
        if (step.kind === 'pod') {
          const labels = { app: step.labels.app, ...step.labels.markers };
          index.setPod(readPod(podObject(step.name, { ...step, labels })));
          continue;
        }
        const before = BUDGETS.map(({ name }) => answersOf(index, name));
        take(index, step);
        const concerned = index.takeRegrouped('default');
        for (const [at, { name }] of BUDGETS.entries()) {
          const isOther = answersOf(index, name) !== before[at];
          if (isOther) expect(concerned, `${name} after ${JSON.stringify(step)}`).toContain(name);
          if (isOther) told += 1;
          else if (!concerned.includes(name)) spared += 1;
        }
        expect(index.takeRegrouped('default')).toEqual([]);
      }
    }),
    { numRuns: 1000 },
  );
  // It drew what it was to draw.
  expect(told).toBeGreaterThan(100);
  expect(spared).toBeGreaterThan(100);
});

test('AD-06: groups of a thousand budgets come and go, and each concerns its own budget', () => {
  const index = new DisruptionIndex();
  const names = Array.from({ length: 1000 }, (_, at) => `b${at}`);
  for (const name of names) {
    const selector = { matchLabels: { app: name } };
    index.setBudget(readBudget(budgetObject({ name, spec: { minAvailable: 1, selector } }), undefined));
    const spec = { schedulingGroup: { podGroupName: name } };
    index.setPod(readPod(podObject(`${name}-0`, { labels: { app: name }, spec, ready: true })));
  }
  const group = (minCount: number) => ({ schedulingPolicy: { gang: { minCount } } });
  for (const name of names) {
    index.setPodGroup('default', name, readPodGroup({ metadata: { name }, spec: group(1) } as never));
    expect(index.takeRegrouped('default')).toEqual([name]);
  }
  // Most updates are of the status.
  index.setPodGroup('default', 'b7', readPodGroup({ metadata: { name: 'b7' }, spec: group(1) } as never));
  expect(index.takeRegrouped('default')).toEqual([]);
});
