import type { KubeObject } from '../../../api/resource.ts';
import type { LintFacts } from '../facts.ts';
import type { LintRule } from '../finding.ts';
import { type GroupView, isMultiPod } from '../group-view.ts';
import { countOf, shortNameOf, someOf } from '../pod-set.ts';

export const groupWithoutBudget: LintRule = {
  name: 'group-without-budget',
  severity: 'warning',
  what: 'A group of pods that no budget covers',
  why: 'A drain takes its pods without asking anyone, one from each group if it so happens, and breaks them all.',
  fix: 'Add a PodDisruptionBudget that selects these pods (it counts groups by itself), or a PodUnavailableBudget.',
  details:
    'Looked at are pods that name a PodGroup or Workload, and pods of LeaderWorkerSets and JobSets with more than one ' +
    'pod to a group. Pods in no group are not reported: whether they need a budget is for their owner to say.',
  *check(facts) {
    for (const [root, { covered, groups, pods }] of coverage(facts)) {
      if (covered > 0) continue;
      const message = `${countOf(groups, 'group')} of together ${countOf(pods, 'pod')} and no budget that covers them`;
      yield { object: root, path: '', message };
    }
  },
};

export const groupPartlyCovered: LintRule = {
  name: 'group-partly-covered',
  severity: 'warning',
  what: 'A group some of whose pods no budget covers',
  why: 'Taking a pod that no budget selects breaks the group just the same, and nobody is asked.',
  fix: 'Widen the selector to all pods of the group, the leader and the workers alike.',
  details:
    'A budget that counts groups looks at all members of a group it selects a pod of, but it is asked only about pods it ' +
    'selects itself. Selecting leaders alone leaves the workers open to any drain.',
  *check(facts) {
    for (const [root, { covered, open, pods }] of coverage(facts)) {
      if (covered === 0 || covered === pods) continue;
      const message = `${countOf(pods - covered, 'pod')} of its groups (${someOf(open)}) are under no budget, ${covered} others are`;
      yield { object: root, path: '', message };
    }
  },
};

interface Coverage {
  groups: number;
  pods: number;
  covered: number;
  readonly open: string[];
}

/** How far budgets cover the groups, by the object their pods come from; by the group where pods stand alone. */
function coverage(facts: LintFacts): Map<KubeObject, Coverage> {
  const found = new Map<KubeObject, Coverage>();
  for (const group of facts.groups) {
    if (!isMultiPod(group)) continue;
    const root = rootOf(facts, group);
    const known = found.get(root) ?? { groups: 0, pods: 0, covered: 0, open: [] };
    known.groups += 1;
    for (const pod of group.members) {
      const { pdbs, pubs } = facts.covering(pod);
      known.pods += 1;
      if (pdbs.length + pubs.length > 0) known.covered += 1;
      else known.open.push(pod.set.path === '' ? shortNameOf(pod.set.root) : pod.set.path);
    }
    found.set(root, known);
  }
  return found;
}

function rootOf(facts: LintFacts, { members, namespace }: GroupView): KubeObject {
  const [first] = members;
  const root = first?.set.root as KubeObject;
  if (first?.set.managed) return root;
  const link = first?.facts.link;
  const podGroup = link && facts.find('scheduling.k8s.io', 'PodGroup', namespace, link.podGroup);
  return podGroup ?? (link && facts.find('scheduling.k8s.io', 'Workload', namespace, link.workload)) ?? root;
}
