import { isThresholdUnreached } from '../../unavailability/index.ts';
import { bestOf, boundOf, unitOf } from '../bound.ts';
import type { LintFacts } from '../facts.ts';
import type { Problem, LintRule } from '../finding.ts';
import type { GroupView } from '../group-view.ts';
import { declarationOf } from '../declaration.ts';
import { countOf, someOf } from '../pod-set.ts';
import type { PubView } from '../pub-view.ts';

export const thresholdAboveSize: LintRule = {
  name: 'threshold-above-size',
  severity: 'error',
  what: 'A number that asks for more than there will ever be',
  why: 'A budget that wants more than exists refuses every eviction; a gang that wants more pods than it has never starts.',
  fix: 'Lower the number to what exists, or make as many replicas as it asks for.',
  details:
    'Three numbers are held against what they count: minAvailable of a budget against its pods or groups, minCount of a ' +
    'gang against the pods that name it, and minReadyReplicas of a podGroupPolicy against the size of its groups. In a ' +
    'cluster, pods that exist now are counted.',
  *check(facts) {
    for (const view of [...facts.pdbs, ...facts.pubs]) {
      const best = bestOf(view);
      const bound = boundOf(view);
      if (best === undefined || bound?.field !== 'minAvailable' || best.desired <= best.expected) continue;
      if (best.expected === 0) continue;
      const message = `minAvailable ${bound.value} asks for more than the ${countOf(best.expected, unitOf(view))} there are`;
      const fix = `Set minAvailable to at most ${Math.max(0, best.expected - 1)}, or use maxUnavailable: 1.`;
      yield { object: view.object, path: 'spec.minAvailable', message, fix };
    }
    for (const view of facts.pubs) yield* checkPolicy(view);
    for (const group of facts.groups) yield* checkGang(facts, group);
  },
};

function* checkPolicy({ object, tally }: PubView): Generator<Problem> {
  const needed = object.spec?.podGroupPolicy?.minReadyReplicas ?? 1;
  if (object.spec?.podGroupPolicy === undefined) return;
  const path = 'spec.podGroupPolicy.minReadyReplicas';
  const small = tally.groups().filter(({ size }) => size !== undefined && size < needed);
  const size = Math.max(...small.map((group) => group.size ?? 0), 0);
  if (small.length > 0) {
    const message = `minReadyReplicas ${needed} is more than the ${countOf(size, 'pod')} of group ${someOf(small.map(({ identity }) => identity))}; it can never be available`;
    yield { object, path, message, severity: 'warning', fix: `Set minReadyReplicas to at most ${size}.` };
  } else if (isThresholdUnreached({ budget: object, tally })) {
    const largest = Math.max(...tally.groups().map(({ active }) => active));
    const message = `minReadyReplicas ${needed} is more than any group has (${largest}), so no group can ever be available`;
    yield { object, path, message, fix: `Set minReadyReplicas to at most ${largest}.` };
  }
}

function* checkGang(facts: LintFacts, { marked, members, namespace, resolution }: GroupView): Generator<Problem> {
  if (marked !== 'Link' || resolution.kind !== 'gang' || members.length >= resolution.minCount) return;
  const { object, path } = declarationOf(facts, namespace, members[0]);
  const message = `minCount ${resolution.minCount} needs more than the ${countOf(members.length, 'pod')} that name this group (${resolution.unit})`;
  yield { object, path, message, fix: `Set minCount to at most ${members.length}, or make more pods of this group.` };
}
