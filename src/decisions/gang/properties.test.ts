import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromLabelSelector, matches } from '../../machinery/values/index.ts';
import type { Cluster } from '../placement/cluster/cluster.ts';
import { cluster, facts, node, pod } from '../placement/fixtures.ts';
import { findNode } from './placement/find-node.ts';
import { type LeafQuestion, placeGroup } from './placement/place-group.ts';
import { preemptForGroup } from './preemption/preempt-group.ts';
import { preemptForPod } from './preemption/preempt-pod.ts';

const label = fc.record({ app: fc.constantFrom('a', 'b'), tier: fc.constantFrom('x', 'y', 'z') });
const expression = fc.oneof(
  fc.record({
    key: fc.constantFrom('app', 'tier'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.subarray(['a', 'b', 'x', 'y'], { minLength: 1 }),
  }),
  fc.record({ key: fc.constantFrom('app', 'other'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

test('labels.candidates() leaves out no pod that the selector matches, and names none twice', () => {
  fc.assert(
    fc.property(
      fc.array(label, { maxLength: 12 }),
      fc.array(expression, { maxLength: 3 }),
      (labels, matchExpressions) => {
        const made = cluster([node('n')]);
        const pods = labels.map((each, index) => facts(made, pod(`p${index}`, { labels: each })));
        for (const each of pods) made.place(each, 'n');
        // One comes and goes again: the index forgets it.
        const passing = facts(made, pod('passing', { labels: { app: 'a', tier: 'x' } }));
        made.place(passing, 'n');
        made.remove(passing.uid);
        const selector = fromLabelSelector({ matchExpressions });
        const found = [...made.labels.candidates('default', selector)].map((each) => each.pod.name);
        expect(new Set(found).size).toBe(found.length);
        const wanted = pods.filter((each) => matches(selector, each.labels)).map(({ name }) => name);
        expect(found).toEqual(expect.arrayContaining(wanted));
        expect(found).not.toContain('passing');
      },
    ),
  );
});

interface Running {
  readonly node: number;
  readonly priority: number;
  readonly group: number;
}

const running = fc.record({ node: fc.nat(2), priority: fc.integer({ min: 0, max: 20 }), group: fc.nat(3) });

/** Nodes of four CPUs, each pod one; groups of even number live only whole, group 3 is no group. */
function stage(pods: readonly Running[]): { made: Cluster; context: Parameters<typeof preemptForPod>[2] } {
  const made = cluster([node('n0'), node('n1'), node('n2')]);
  for (const [index, each] of pods.entries()) {
    const name = `n${each.node}`;
    if ((made.node(name)?.pods.size ?? 0) >= 4) continue;
    // Members of a group share its priority.
    const group = each.group === 3 ? undefined : `g${each.group}`;
    const priority = group === undefined ? each.priority : each.group * 7;
    made.place(facts(made, pod(`r${index}`, { cpu: 1, priority }), group), name);
  }
  const disruptionOf = (group: string) => ({ mode: group === 'g1' ? ('single' as const) : ('all' as const) });
  return { made, context: { cluster: made, disruptionOf, openBudgets: () => () => false } };
}

const snapshot = (made: Cluster): string[] =>
  made.nodes.map((each) => [...each.pods.keys()].sort().join() + String(each.requested[0] ?? 0)).sort();

function checkVictims(
  made: Cluster,
  victims: readonly { uid: string; priority: number; group: string | undefined }[],
  below: number,
) {
  const gone = new Set(victims.map(({ uid }) => uid));
  expect(gone.size).toBe(victims.length);
  for (const { group, priority } of victims) {
    expect(priority).toBeLessThan(below);
    if (group === undefined || group === 'g1') continue;
    for (const member of made.membersOf(group)) expect(gone.has(member.pod.uid)).toBe(true);
  }
}

test('preemption takes only the less important, whole groups whole, makes the room it promised and touches nothing', () => {
  fc.assert(
    fc.property(
      fc.array(running, { maxLength: 12 }),
      fc.integer({ min: 1, max: 15 }),
      fc.integer({ min: 1, max: 6 }),
      (pods, priority, size) => {
        const { context, made } = stage(pods);
        const before = snapshot(made);
        const gang: LeafQuestion = {
          kind: 'leaf',
          name: 'new',
          needed: size,
          scheduled: 0,
          pods: Array.from({ length: size }, (_, index) =>
            facts(made, pod(`new-${index}`, { cpu: 1, priority }), 'new'),
          ),
        };
        if (placeGroup(gang, made).reason === 'Scheduled') return;
        const answer = preemptForGroup(gang, { priority, group: 'new' }, context);
        expect(snapshot(made)).toEqual(before);
        if (answer.reason === 'Preempt') {
          checkVictims(made, answer.victims, priority);
          for (const victim of answer.victims) made.remove(victim.uid);
          expect(placeGroup(gang, made).reason).toBe('Scheduled');
        }
      },
    ),
  );
});

test('preemptForPod() opens the node it names, at the cost of less important pods only', () => {
  fc.assert(
    fc.property(fc.array(running, { maxLength: 12 }), fc.integer({ min: 1, max: 15 }), (pods, priority) => {
      const { context, made } = stage(pods);
      const asked = facts(made, pod('new', { cpu: 3, priority }));
      const { diagnosis } = findNode(asked, made);
      if (diagnosis === undefined) return;
      const before = snapshot(made);
      const answer = preemptForPod(asked, diagnosis, context);
      expect(snapshot(made)).toEqual(before);
      if (answer.reason !== 'Preempt') return;
      checkVictims(made, answer.victims, priority);
      for (const victim of answer.victims) made.remove(victim.uid);
      made.nominate(asked, answer.node);
      expect(findNode(asked, made).node?.name).toBe(answer.node);
    }),
  );
});
