import type { Problem, LintRule } from '../finding.ts';
import { declarationOf } from '../declaration.ts';
import { countOf } from '../pod-set.ts';
import { GROUP_MIN_COUNT } from '../../disruption/index.ts';
import type { PdbView } from '../pdb-view.ts';
import type { LintFacts } from '../facts.ts';

export const thresholdOfOne: LintRule = {
  name: 'threshold-of-one',
  severity: 'warning',
  what: 'A group of several pods that counts as whole while one of them is up',
  why: 'All but the last pod of every group may be taken without the budget noticing, which is hardly any protection.',
  fix: 'Set the threshold to the number of pods the group needs to do its work, usually all of them.',
  details:
    'A group is available while it has at least its threshold of ready pods: minReadyReplicas of a podGroupPolicy (1 ' +
    'when it is not set), minCount of a gang, or the annotation policy.quorate.dev/group-min-count. With a threshold of ' +
    '1, both workers of a leader may go and the group still counts as available. That is right for groups whose pods ' +
    'stand in for each other, and wrong for a leader with its workers or a training gang.',
  *check(facts) {
    for (const { object, tally } of facts.pubs) {
      const policy = object.spec?.podGroupPolicy;
      if (policy === undefined || (policy.minReadyReplicas ?? 1) > 1) continue;
      const largest = Math.max(0, ...tally.groups().map(({ active, size }) => size ?? active));
      if (largest <= 1) continue;
      const unset = policy.minReadyReplicas === undefined;
      const message = `${unset ? 'minReadyReplicas is not set and means 1' : 'minReadyReplicas is 1'}, but groups have ${countOf(largest, 'pod')}`;
      const path = unset ? 'spec.podGroupPolicy' : 'spec.podGroupPolicy.minReadyReplicas';
      yield { object, path, message, fix: `Set minReadyReplicas: ${largest} if a group needs all of its pods.` };
    }
    yield* checkGangs(facts);
    for (const view of facts.pdbs) yield* checkAnnotation(facts, view);
  },
};

/** Once for each place where the number is written, however many groups follow it. */
function* checkGangs(facts: LintFacts): Generator<Problem> {
  const seen = new Set<string>();
  for (const { marked, members, namespace, resolution } of facts.groups) {
    if (marked !== 'Link' || resolution.kind !== 'gang' || resolution.minCount > 1 || members.length <= 1) continue;
    const { object, path } = declarationOf(facts, namespace, members[0]);
    const key = `${object.kind}/${object.metadata.name}/${path}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const message = `minCount is 1, but ${countOf(members.length, 'pod')} name this group (${resolution.unit})`;
    yield { object, path, message, fix: `Set minCount: ${members.length} if the group needs all of its pods.` };
  }
}

function* checkAnnotation({ index }: LintFacts, { count, object, pods }: PdbView): Generator<Problem> {
  const { groupBy, name, namespace } = count.budget;
  if (typeof groupBy !== 'object' || groupBy.kind === 'podGroup' || groupBy.minCount !== 1) return;
  const sizes = pods.map(({ facts }) => index.unitOf(namespace, facts.name, name, 0)?.members ?? 0);
  const largest = Math.max(0, ...sizes);
  if (largest <= 1) return;
  yield {
    object,
    path: `metadata.annotations[${GROUP_MIN_COUNT}]`,
    message: `${GROUP_MIN_COUNT} is 1, but groups have ${countOf(largest, 'pod')}`,
    fix: `Set it to "${largest}" if a group needs all of its pods.`,
  };
}
