import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LabelSelector } from '../../api/generated/meta-v1.ts';
import { formatTime, matches } from '../../machinery/values/index.ts';
import { type BudgetFacts, readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, NOW, podObject } from './fixtures.ts';
import { type PodGroupFacts, readPodGroup, readWorkload, type WorkloadFacts } from './group-facts.ts';
import { type CountedPod, readPod } from './pod-facts.ts';
import { recount } from './recount.ts';

const name = fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p4', 'p5');
const workloadName = fc.constantFrom('w', 'v');
const groupName = fc.constantFrom('g', 'h');
const key = fc.constantFrom('0', '1');

const link = fc.oneof(
  fc.constant({}),
  fc.record({ workloadRef: fc.record({ name: workloadName, podGroup: groupName, podGroupReplicaKey: key }) }),
  fc.record({ schedulingGroup: fc.record({ podGroupName: fc.constantFrom('x', 'y') }) }),
);

const labels = fc.record({ app: fc.constantFrom('a', 'b'), tier: fc.constantFrom('t', 'u') });

const podEvent = fc.record({
  kind: fc.constant('pod' as const),
  name,
  labels,
  spec: link,
  ready: fc.boolean(),
  terminating: fc.boolean(),
  owner: fc.constantFrom('rs1', 'rs2', ''),
});

const selector = fc.constantFrom<LabelSelector>(
  { matchLabels: { app: 'a' } },
  { matchLabels: { app: 'a', tier: 't' } },
  { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
  { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['u'] }] },
  {},
);

const event = fc.oneof(
  { weight: 6, arbitrary: podEvent },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('gone' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('budget' as const),
      supposed: fc.boolean(),
      name: fc.constantFrom('foo', 'bar'),
      generation: fc.integer({ min: 1, max: 3 }),
      selector,
      minAvailable: fc.constantFrom(1, 2, '50%'),
      counted: fc.boolean(),
      disrupted: fc.dictionary(name, fc.integer({ min: -180, max: 0 }), { maxKeys: 4 }),
      annotations: fc.constantFrom<Record<string, string>>(
        {},
        {},
        { 'policy.quorate.dev/budget-scope': 'PodGroup' },
        { 'policy.quorate.dev/group-by': 'label:tier', 'policy.quorate.dev/group-min-count': '2' },
        {
          'policy.quorate.dev/group-by': 'label:tier',
          'policy.quorate.dev/group-min-count': '1',
          'policy.quorate.dev/group-replicas': '3',
        },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unbudget' as const), name: fc.constantFrom('foo', 'bar') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('workload' as const),
      name: workloadName,
      present: fc.boolean(),
      minCount: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      replicas: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('podGroup' as const),
      name: fc.constantFrom('x', 'y'),
      present: fc.boolean(),
      minCount: fc.integer({ min: 1, max: 3 }),
      template: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: -30, max: 130 }) }),
  },
);

test('DisruptionIndex equals the recount after any sequence of events', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), (events) => {
      const index = new DisruptionIndex();
      const pods = new Map<string, CountedPod>();
      const budgets = new Map<string, { generation: number; facts: BudgetFacts }>();
      const workloads = new Map<string, WorkloadFacts>();
      const podGroups = new Map<string, PodGroupFacts>();
      let now = NOW;
      let edition = 0;
      const snapshot = () => ({
        pods: [...pods.values()],
        workloads: [...workloads.values()],
        podGroups: [...podGroups.values()],
      });

      for (const step of events) {
        switch (step.kind) {
          case 'pod': {
            const facts = readPod(podObject(step.name, step));
            pods.set(step.name, facts);
            index.setPod(facts);
            break;
          }
          case 'gone':
            pods.delete(step.name);
            index.deletePod('default', step.name);
            break;
          case 'budget': {
            // The spec changes only together with the generation, as the server sees to.
            const known = budgets.get(step.name);
            const same = known !== undefined && known.generation === step.generation;
            const object = budgetObject({
              name: step.name,
              generation: same ? known.facts.generation : (edition += 1),
              annotations: step.annotations,
              ...(step.counted && { conditions: [groupUnits], status: [1, 2, 1, 3] as const }),
              spec: { minAvailable: step.minAvailable, selector: step.selector },
              disrupted: Object.fromEntries(
                Object.entries(step.disrupted).map(([pod, ago]) => [pod, now + ago * 1000]),
              ),
            });
            const facts = readBudget(object, same ? known.facts : undefined);
            if (step.supposed) {
              // 19.5: the answer is as if it were so, and nothing is another afterwards.
              const count = index.suppose([facts], () => index.count('default', facts.name, now));
              const { healthy, mode } = recount(facts, snapshot(), now);
              expect(count).toMatchObject({ healthy, mode });
              break;
            }
            budgets.set(step.name, { generation: step.generation, facts });
            index.setBudget(facts);
            break;
          }
          case 'unbudget':
            budgets.delete(step.name);
            index.deleteBudget('default', step.name);
            break;
          case 'workload': {
            const policy = step.minCount === undefined ? { basic: {} } : { gang: { minCount: step.minCount } };
            const podGroupList = [{ name: 'g', policy, replicas: step.replicas }];
            const object = { metadata: { name: step.name }, spec: { podGroups: podGroupList } };
            if (step.present) workloads.set(step.name, readWorkload(object));
            else workloads.delete(step.name);
            index.setWorkload('default', step.name, workloads.get(step.name));
            break;
          }
          case 'podGroup': {
            const object = {
              metadata: { name: step.name },
              spec: {
                schedulingPolicy: { gang: { minCount: step.minCount } },
                ...(step.template && { workloadRef: { workloadName: 'w', templateName: 'g' } }),
              },
            };
            if (step.present) podGroups.set(step.name, readPodGroup(object));
            else podGroups.delete(step.name);
            index.setPodGroup('default', step.name, podGroups.get(step.name));
            break;
          }
          case 'wait':
            now += step.seconds * 1000;
        }

        const state = snapshot();
        for (const { facts } of budgets.values()) {
          const want = recount(facts, state, now);
          const got = index.count('default', facts.name, now);
          expect(got, `at ${formatTime(now)}`).toMatchObject({
            mode: want.mode,
            pods: want.pods,
            healthy: want.healthy,
            expectedUnits: want.expectedUnits,
          });
          for (const pod of state.pods) {
            const view = index.ask('default', pod.name, now)?.views.find((one) => one.budget.name === facts.name);
            expect(view !== undefined, pod.name).toBe(matches(facts.selector, pod.labels));
            if (view !== undefined) expect(view).toEqual(want.view(pod));
          }
        }
      }
    }),
    { numRuns: 400 },
  );
});
