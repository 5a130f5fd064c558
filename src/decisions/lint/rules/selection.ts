import { fromLabelSelector, matches } from '../../../machinery/values/index.ts';
import type { LintRule } from '../finding.ts';
import { countOf } from '../pod-set.ts';

export const selectsNothing: LintRule = {
  name: 'selects-nothing',
  severity: 'warning',
  what: 'A budget whose selector matches no pod',
  why: 'It protects nothing, and the pods it was written for are taken without asking.',
  fix: "Copy the labels of the workload's pod template into the selector.",
  details:
    'A selector is compared with the labels of pods, which are those of the pod template and not those of the workload. ' +
    'A PodDisruptionBudget without a selector matches nothing; one with an empty selector matches everything. In ' +
    'manifests, a budget is reported only if its namespace has workloads in the same files.',
  *check({ pdbs, pubs, sets, source }) {
    for (const { object, pods } of [...pdbs, ...pubs]) {
      if (pods.length > 0) continue;
      const { namespace } = object.metadata;
      const near = sets.filter(({ root }) => root.metadata.namespace === namespace);
      const selector = object.spec?.selector;
      if (!selector) {
        if (object.spec && 'targetRef' in object.spec) continue;
        const message = 'there is no selector, and without one a budget matches nothing';
        yield { object, path: 'spec', message };
        continue;
      }
      if (source === 'Manifests' && near.length === 0) continue;
      const asked = fromLabelSelector(selector);
      if (near.some(({ labels }) => matches(asked, labels))) continue;
      const seen = source === 'Manifests' ? 'in these files' : 'now';
      yield { object, path: 'spec.selector', message: `the selector matches no pod of the namespace ${seen}` };
    }
  },
};

export const selectsEverything: LintRule = {
  name: 'selects-everything',
  severity: 'warning',
  what: 'A PodDisruptionBudget with an empty selector',
  why: 'It covers every pod of the namespace, now and later, and makes any second budget there an overlap.',
  fix: 'Name the labels of the pods it is for.',
  details:
    'In policy/v1 an empty selector ({}) matches all pods of the namespace, also those without labels. A pod under two ' +
    'budgets cannot be evicted at all, so such a budget breaks drains as soon as another one is added.',
  *check({ pdbs }) {
    for (const { count, object } of pdbs) {
      const { requirements, matchesNothing } = count.budget.selector;
      if (matchesNothing || requirements.length > 0) continue;
      const message = `the selector is empty and matches every pod of the namespace (${countOf(count.pods, 'pod')})`;
      yield { object, path: 'spec.selector', message };
    }
  },
};
