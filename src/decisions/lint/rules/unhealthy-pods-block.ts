import type { LintRule } from '../finding.ts';

export const unhealthyPodsBlock: LintRule = {
  name: 'unhealthy-pods-block',
  severity: 'info',
  what: 'A PodDisruptionBudget under which broken pods hold up drains',
  why: 'While too few pods are healthy, even pods that do not work may not be evicted, so a crash loop blocks an upgrade.',
  fix: 'Set unhealthyPodEvictionPolicy: AlwaysAllow, unless a pod that is not ready may still hold something of value.',
  details:
    'By default (IfHealthyBudget) a running pod that is not ready may be evicted only while the budget is met. With ' +
    'AlwaysAllow it may always go. Leave the default for pods that recover data while they are not ready.',
  *check({ pdbs }) {
    for (const { count, object, pods } of pdbs) {
      if (count.budget.alwaysAllow || pods.length === 0 || object.spec?.unhealthyPodEvictionPolicy) continue;
      yield {
        object,
        path: 'spec',
        message: 'unhealthyPodEvictionPolicy is not set, so pods that are not ready block drains',
      };
    }
  },
};
