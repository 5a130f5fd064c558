/**
 * In policy/v1beta1 the selector `{}` selects nothing, in v1 everything. A reserved key carries each meaning through
 * the other version; in any other selector, expressions on that key are noise and are dropped.
 */
import type { LabelSelector } from '../generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../generated/policy-v1.ts';

export const RESERVED_KEY = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

/** A v1beta1 object as v1. */
export function budgetFromV1beta1(budget: PodDisruptionBudget): PodDisruptionBudget {
  return withSelector(budget, (selector) => {
    if (isReserved(selector, 'DoesNotExist')) return {};
    if (isEmpty(selector)) return { matchExpressions: [{ key: RESERVED_KEY, operator: 'Exists' }] };
    return strip(selector);
  });
}

/** A v1 object as v1beta1. */
export function budgetToV1beta1(budget: PodDisruptionBudget): PodDisruptionBudget {
  return withSelector(budget, (selector) => {
    if (isReserved(selector, 'Exists')) return {};
    if (isEmpty(selector)) return { matchExpressions: [{ key: RESERVED_KEY, operator: 'DoesNotExist' }] };
    return strip(selector);
  });
}

/** A v1 object as it came in; only the expression that means v1beta1's `{}` is kept. */
export function normalizeSelector(budget: PodDisruptionBudget): PodDisruptionBudget {
  return withSelector(budget, (selector) => (isReserved(selector, 'Exists') ? selector : strip(selector)));
}

function withSelector(
  budget: PodDisruptionBudget,
  change: (selector: LabelSelector) => LabelSelector,
): PodDisruptionBudget {
  const selector = budget.spec?.selector;
  if (selector === undefined || selector === null) return budget;
  return { ...budget, spec: { ...budget.spec, selector: change(selector) } };
}

function isEmpty({ matchExpressions, matchLabels }: LabelSelector): boolean {
  return (matchExpressions?.length ?? 0) === 0 && Object.keys(matchLabels ?? {}).length === 0;
}

function isReserved({ matchExpressions, matchLabels }: LabelSelector, operator: string): boolean {
  const [only] = matchExpressions ?? [];
  return (
    Object.keys(matchLabels ?? {}).length === 0 &&
    matchExpressions?.length === 1 &&
    only?.key === RESERVED_KEY &&
    only.operator === operator
  );
}

function strip(selector: LabelSelector): LabelSelector {
  const { matchExpressions } = selector;
  if (!matchExpressions?.some(({ key }) => key === RESERVED_KEY)) return selector;
  return { ...selector, matchExpressions: matchExpressions.filter(({ key }) => key !== RESERVED_KEY) };
}
