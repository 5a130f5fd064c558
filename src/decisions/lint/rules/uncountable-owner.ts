import { needsExpectedScale } from '../../disruption/index.ts';
import { boundOf } from '../bound.ts';
import type { LintRule } from '../finding.ts';
import { shortNameOf, someOf } from '../pod-set.ts';

export const uncountableOwner: LintRule = {
  name: 'uncountable-owner',
  severity: 'error',
  what: 'A percentage or maxUnavailable over pods whose controller has no number of replicas',
  why: 'The disruption controller cannot count such a budget and allows nothing: every eviction is refused.',
  fix: 'Use an integer minAvailable, which needs no controller to say how many pods there should be.',
  details:
    'For maxUnavailable and for percentages, Kubernetes asks the controller of each pod for its scale. Jobs and ' +
    'DaemonSets have none, so the sync of the budget fails (condition SyncFailed) and its number stays 0. Pods without ' +
    'any controller add nothing to the expected number, so a budget over only such pods never allows anything either. ' +
    'Budgets that count groups do not ask for a scale.',
  *check({ pdbs }) {
    for (const view of pdbs) {
      const { count, object, pods, scale } = view;
      if (count.mode.unit === 'PodGroup' || pods.length === 0 || !needsExpectedScale(count.budget)) continue;
      const bound = boundOf(view);
      if (bound === undefined) continue;
      const path = `spec.${bound.field}`;
      if (scale === 'None') {
        const owners = pods
          .filter(({ set }) => set.managed && set.scale === 'None')
          .map(({ set }) => shortNameOf(set.root));
        const message = `${bound.field} ${bound.value} needs the scale of ${someOf(owners)}, which has none`;
        yield { object, path, message };
      } else if (pods.every(({ set }) => !set.managed)) {
        const message = `${bound.field} ${bound.value} over pods without a controller: none are expected, so none may go`;
        yield { object, path, message };
      }
    }
  },
};
