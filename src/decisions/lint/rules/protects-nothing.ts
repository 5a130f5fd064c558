import { bestOf, boundOf, unitOf } from '../bound.ts';
import type { LintRule } from '../finding.ts';
import { countOf } from '../pod-set.ts';

export const protectsNothing: LintRule = {
  name: 'protects-nothing',
  severity: 'info',
  what: 'A budget under which everything may go at once',
  why: 'It reads like protection and is none: a drain may take every pod or group together.',
  fix: 'Ask for at least one to stay, or delete the budget.',
  details:
    'Reported are minAvailable 0, maxUnavailable 100%, and maxUnavailable as large as the number of replicas. For a single replica ' +
    'maxUnavailable 1 is often meant: it says that drains need not wait. Hence only for information.',
  *check({ pdbs, pubs }) {
    for (const view of [...pdbs, ...pubs]) {
      const best = bestOf(view);
      const bound = boundOf(view);
      if (best === undefined || bound === undefined || bound.partial || best.desired > 0 || best.expected === 0)
        continue;
      const message = `${bound.field} ${bound.value} of ${countOf(best.expected, unitOf(view))} lets all of them go at once`;
      yield { object: view.object, path: `spec.${bound.field}`, message };
    }
  },
};
