import { LWS } from '../../../api/lws/types.ts';
import { JOBSET } from '../../disruption/index.ts';
import type { LintRule } from '../finding.ts';
import { type LintPod, shortNameOf, someOf } from '../pod-set.ts';

export const sharedGroupLabel: LintRule = {
  name: 'shared-group-label',
  severity: 'warning',
  what: 'A group label whose values unrelated workloads share',
  why: 'Pods of different sets are taken for one group, so ready pods of one hide that the other is down.',
  fix: 'Use a label that only one set carries, or one budget for each set.',
  details:
    'A podGroupPolicy groups the pods it covers by the value of one label. Where two workloads use the same value, such ' +
    'as shard "0", their pods become one group. The labels of LeaderWorkerSet are told apart by the name of the set and ' +
    'are not reported. If the workloads do form one group together, for example a leader Deployment with a worker ' +
    'Deployment, disable the rule on the budget.',
  *check({ pubs }) {
    for (const { object, pods, tally } of pubs) {
      const key = object.spec?.podGroupPolicy?.groupLabelKey;
      if (key === undefined) continue;
      const sets = new Map<string, Set<string>>();
      for (const pod of pods) {
        const group = tally.pods.get(pod.facts.name)?.group;
        if (group === undefined) continue;
        const known = sets.get(group) ?? new Set<string>();
        sets.set(group, known.add(setNameOf(pod)));
      }
      const shared = [...sets].filter(([, names]) => names.size > 1);
      const [first] = shared;
      if (first === undefined) continue;
      const more = shared.length > 1 ? ` (and ${shared.length - 1} more groups)` : '';
      const message = `group "${first[0]}" is made of pods of ${someOf([...first[1]])}${more}`;
      yield { object, path: 'spec.podGroupPolicy.groupLabelKey', message };
    }
  },
};

/** Pods without a controller are one set: nothing tells them apart. */
function setNameOf({ facts, set }: LintPod): string {
  if (facts.labels[LWS.name] !== undefined) return `LeaderWorkerSet ${facts.labels[LWS.name]}`;
  const job = facts.labels[JOBSET.replicatedJob];
  if (!set.managed) return 'pods without a controller';
  return job === undefined ? shortNameOf(set.root) : `${shortNameOf(set.root)}/${job}`;
}
