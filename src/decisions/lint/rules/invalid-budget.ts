import type { LintRule } from '../finding.ts';

export const invalidBudget: LintRule = {
  name: 'invalid-budget',
  severity: 'error',
  what: 'A budget the API would refuse',
  why: 'It cannot be created, so the pods it was written for have no budget.',
  fix: 'Correct the field that the message names.',
  details:
    'The same rules as in the API: one of minAvailable and maxUnavailable (both only with podGroupPolicy), integers of ' +
    'at least 0 or percentages up to 100%, well-formed selectors, and for PodUnavailableBudgets exactly one of selector ' +
    'and targetRef. No other rule looks at a budget that is reported here.',
  *check({ invalid }) {
    for (const { issues, object } of invalid) {
      for (const { message, path } of issues) yield { object, path, message };
    }
  },
};
