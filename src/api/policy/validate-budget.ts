import {
  FieldPath,
  invalid,
  type Issue,
  notSupported,
  parsePercent,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../generated/policy-v1.ts';
import { validateConditions } from './validate-conditions.ts';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/**
 * Everything that is wrong with a budget's spec. Neither bound set is right: such a budget allows nothing. On update,
 * values of an old selector that were already wrong may stay.
 */
export function validateBudget({ spec }: PodDisruptionBudget, old?: PodDisruptionBudget): Issue[] {
  const { maxUnavailable, minAvailable, selector, unhealthyPodEvictionPolicy } = spec ?? {};
  const issues: Issue[] = [];
  if (isSet(minAvailable) && isSet(maxUnavailable)) {
    issues.push(invalid(SPEC, spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  issues.push(...validateAmount(SPEC.child('minAvailable'), minAvailable));
  issues.push(...validateAmount(SPEC.child('maxUnavailable'), maxUnavailable));
  const allowInvalidValues = old !== undefined && hasInvalidSelector(old.spec);
  issues.push(...validateLabelSelector(SPEC.child('selector'), selector, { allowInvalidValues }));
  if (isSet(unhealthyPodEvictionPolicy) && !POLICIES.includes(unhealthyPodEvictionPolicy)) {
    issues.push(notSupported(SPEC.child('unhealthyPodEvictionPolicy'), unhealthyPodEvictionPolicy, POLICIES));
  }
  return issues;
}

/** What is wrong with a status. v1beta1 never checked the counters, and old clients may rely on it. */
export function validateBudgetStatus({ status }: PodDisruptionBudget, version = 'v1'): Issue[] {
  const issues = validateConditions(STATUS.child('conditions'), status?.conditions);
  if (version === 'v1beta1') return issues;
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
    const value = status?.[field] ?? 0;
    if (value < 0) issues.push(invalid(STATUS.child(field), value, 'must be greater than or equal to 0'));
  }
  return issues;
}

function validateAmount(path: FieldPath, value: number | string | null | undefined): Issue[] {
  if (!isSet(value)) return [];
  if (typeof value === 'number') return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
  const percent = parsePercent(value);
  if (percent === undefined) return [invalid(path, value, PERCENT_TEXT)];
  return percent > 100 ? [invalid(path, value, 'must not be greater than 100%')] : [];
}

function hasInvalidSelector(spec: PodDisruptionBudgetSpec | undefined): boolean {
  return validateLabelSelector(SPEC.child('selector'), spec?.selector).length > 0;
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}
