import type { Problem, LintRule } from '../finding.ts';
import { countOf, shortNameOf } from '../pod-set.ts';

export const pdbAndPub: LintRule = {
  name: 'pdb-and-pub',
  severity: 'warning',
  what: 'Pods under a PodDisruptionBudget and a PodUnavailableBudget at once',
  why: 'An eviction needs both. One that only the PodDisruptionBudget refuses is still charged to the other for 20 s.',
  fix: 'Keep one budget for these pods: the PodUnavailableBudget if deletes and updates matter too.',
  details:
    'Both budgets are asked for every eviction, and they count different things: the PodDisruptionBudget evictions only, ' +
    'the PodUnavailableBudget deletes and updates as well. A grant is recorded before the other budget has answered, so ' +
    'a refusal there leaves a charge that lapses by itself. A drain can then seem stuck although one budget has room.',
  *check(facts) {
    const pairs = new Map<string, Problem & { pods: number; pub: string; root: string }>();
    for (const pod of facts.pods) {
      const { pdbs, pubs } = facts.covering(pod);
      for (const pdb of pdbs) {
        for (const pub of pubs) {
          const key = `${pod.facts.namespace}/${pdb.object.metadata.name}/${pub.object.metadata.name}`;
          const known = pairs.get(key);
          pairs.set(key, {
            object: pub.object,
            path: pub.object.spec?.selector ? 'spec.selector' : 'spec.targetRef',
            message: '',
            pub: pdb.object.metadata.name ?? '',
            root: known?.root ?? shortNameOf(pod.set.root),
            pods: (known?.pods ?? 0) + 1,
          });
        }
      }
    }
    for (const { object, path, pods, pub, root } of pairs.values()) {
      const message = `covers ${countOf(pods, 'pod')} (${root}) that PodDisruptionBudget ${pub} also selects`;
      yield { object, path, message };
    }
  },
};
