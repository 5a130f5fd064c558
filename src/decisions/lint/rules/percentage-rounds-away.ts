import { bestOf, boundOf, unitOf } from '../bound.ts';
import type { LintRule } from '../finding.ts';
import { countOf } from '../pod-set.ts';

export const percentageRoundsAway: LintRule = {
  name: 'percentage-rounds-away',
  severity: 'warning',
  what: 'A percentage that rounding turns into nothing or everything',
  why: 'Percentages round up: of few replicas, a part becomes the whole. The budget then protects nothing, or lets nothing go.',
  fix: 'Write an integer, or run enough replicas for the percentage to mean a part of them.',
  details:
    'Percentages of minAvailable and maxUnavailable are both rounded up to whole pods or groups. minAvailable 90% of 3 is ' +
    '3, so nothing may ever go, and that is an error. maxUnavailable 25% of 1 is 1, so everything may go, and that is a ' +
    'warning. 0% and 100% say what they mean and are judged by never-allows-drain and protects-nothing.',
  *check({ pdbs, pubs }) {
    for (const view of [...pdbs, ...pubs]) {
      const best = bestOf(view);
      const bound = boundOf(view);
      if (best === undefined || bound === undefined || !bound.partial || best.expected === 0) continue;
      const path = `spec.${bound.field}`;
      const of = `of ${countOf(best.expected, unitOf(view))}`;
      if (bound.field === 'maxUnavailable' && best.desired === 0) {
        const message = `maxUnavailable ${bound.value} ${of} rounds up to all of them, so nothing is protected`;
        const fix =
          best.expected === 1
            ? 'Nothing protects a single replica but a second one.'
            : `Set maxUnavailable: ${best.expected - 1} or less.`;
        yield { object: view.object, path, message, fix };
      } else if (bound.field === 'minAvailable' && best.desired >= best.expected && best.allowed === 0) {
        const message = `minAvailable ${bound.value} ${of} rounds up to all of them, so none may ever go`;
        const fix = best.expected === 1 ? 'Run a second replica, or set maxUnavailable: 1.' : 'Set maxUnavailable: 1.';
        yield { object: view.object, path, message, severity: 'error', fix };
      }
    }
  },
};
