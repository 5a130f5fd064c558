import {
  checkQualifiedName,
  FieldPath,
  forbidden,
  fromLabelSelector,
  type Issue,
  type IntOrPercent,
  invalid,
  notSupported,
  parsePercent,
  type Requirement,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import type { LabelSelector } from '../generated/meta-v1.ts';
import { splitApiVersion } from '../resource.ts';
import { isInt32, isSameTarget } from './conversion.ts';
import { readReserveMs } from '../quorate/reserve-time.ts';
import {
  CAPACITY_MODES,
  RESERVE_FAILURES,
  PROTECTED_OPERATIONS,
  type PodUnavailableBudget,
  type PodUnavailableBudgetSpec,
  type TargetReference,
  TOTAL_REPLICAS_ANNOTATION,
} from './types.ts';

const SPEC = FieldPath.of('spec');
const ANNOTATIONS = FieldPath.of('metadata', 'annotations');

const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** What one budget must satisfy by itself. */
export function validatePodUnavailableBudget(budget: PodUnavailableBudget): Issue[] {
  const spec = budget.spec ?? {};
  return [
    ...validateTarget(spec),
    ...validateNumbers(spec),
    ...validateOperations(spec),
    ...validateIgnored(spec),
    ...validateGroupPolicy(spec),
    ...validateTotalReplicas(budget),
    ...validateCapacity(spec),
  ];
}

export function validatePodUnavailableBudgetUpdate(budget: PodUnavailableBudget, old: PodUnavailableBudget): Issue[] {
  const issues = validatePodUnavailableBudget(budget);
  if (!isSameTarget(budget.spec, old.spec)) {
    issues.push(forbidden(SPEC, 'selector and targetRef cannot be modified'));
  }
  return issues;
}

/** What a budget must satisfy against the others of its namespace: no two may guard the same target. */
export function validateNoConflict(budget: PodUnavailableBudget, others: Iterable<PodUnavailableBudget>): Issue[] {
  for (const other of others) {
    if (other.metadata.name === budget.metadata.name) continue;
    const name = other.metadata.name ?? '';
    const { targetRef, selector } = budget.spec ?? {};
    if (targetRef && other.spec?.targetRef && isSameReference(targetRef, other.spec.targetRef)) {
      return [
        forbidden(
          SPEC.child('targetRef'),
          `pub.spec.targetReference is in conflict with other PodUnavailableBudget ${name}`,
        ),
      ];
    }
    if (selector && other.spec?.selector && selectorsOverlap(selector, other.spec.selector)) {
      return [
        forbidden(SPEC.child('selector'), `pub.spec.selector is in conflict with other PodUnavailableBudget ${name}`),
      ];
    }
  }
  return [];
}

/** Advice that comes with an accepted budget. */
export function warningsOf({ spec }: PodUnavailableBudget): string[] {
  if (spec?.podGroupPolicy === undefined || spec.podGroupPolicy.minReadyReplicas !== undefined) return [];
  return [
    'spec.podGroupPolicy.minReadyReplicas: not set, so a group counts as available until its last ready pod goes; set it to the number of pods the group needs to serve',
  ];
}

function validateTarget({ selector, targetRef }: PodUnavailableBudgetSpec): Issue[] {
  if (!selector && !targetRef) {
    return [invalid(SPEC, null, 'no selector or targetRef defined in PodUnavailableBudget')];
  }
  if (selector && targetRef) return [forbidden(SPEC, 'selector and targetRef are mutually exclusive')];
  if (targetRef) {
    const at = SPEC.child('targetRef');
    if (!targetRef.apiVersion || !targetRef.kind || !targetRef.name) {
      return [invalid(at, targetRef, 'empty targetRef is not valid for PodUnavailableBudget')];
    }
    if (targetRef.apiVersion.split('/').length > 2) {
      return [
        invalid(
          at.child('apiVersion'),
          targetRef.apiVersion,
          `unexpected GroupVersion string: ${targetRef.apiVersion}`,
        ),
      ];
    }
    return [];
  }
  const at = SPEC.child('selector');
  if (isEmptySelector(selector)) {
    return [invalid(at, selector, 'empty selector is not valid for PodUnavailableBudget.')];
  }
  return validateLabelSelector(at, selector);
}

function validateNumbers(spec: PodUnavailableBudgetSpec): Issue[] {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable === undefined && minAvailable === undefined) {
    return [invalid(SPEC, null, 'no maxUnavailable or minAvailable defined in PodUnavailableBudget')];
  }
  const issues: Issue[] = [];
  if (maxUnavailable !== undefined && minAvailable !== undefined && spec.podGroupPolicy === undefined) {
    issues.push(forbidden(SPEC, 'maxUnavailable and minAvailable are mutually exclusive'));
  }
  if (maxUnavailable !== undefined) issues.push(...validateBudget(SPEC.child('maxUnavailable'), maxUnavailable));
  if (minAvailable !== undefined) issues.push(...validateBudget(SPEC.child('minAvailable'), minAvailable));
  return issues;
}

function validateBudget(path: FieldPath, value: IntOrPercent): Issue[] {
  if (typeof value === 'number') {
    return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
  }
  const percent = parsePercent(value);
  if (percent === undefined) return [invalid(path, value, PERCENT_TEXT)];
  return percent > 100 ? [invalid(path, value, 'must not be greater than 100%')] : [];
}

function validateOperations({ protectOperations = [] }: PodUnavailableBudgetSpec): Issue[] {
  return protectOperations.flatMap((operation, position) =>
    (PROTECTED_OPERATIONS as readonly string[]).includes(operation)
      ? []
      : [notSupported(SPEC.child('protectOperations').index(position), operation, PROTECTED_OPERATIONS)],
  );
}

function validateIgnored({ ignoredPodSelector }: PodUnavailableBudgetSpec): Issue[] {
  if (ignoredPodSelector === undefined) return [];
  const at = SPEC.child('ignoredPodSelector');
  if (isEmptySelector(ignoredPodSelector)) {
    return [invalid(at, ignoredPodSelector, 'empty ignoredPodSelector is not valid for PodUnavailableBudget')];
  }
  return validateLabelSelector(at, ignoredPodSelector);
}

function validateGroupPolicy({ podGroupPolicy }: PodUnavailableBudgetSpec): Issue[] {
  if (podGroupPolicy === undefined) return [];
  const at = SPEC.child('podGroupPolicy');
  const { groupLabelKey = '', minReadyReplicas } = podGroupPolicy;
  const issues = checkQualifiedName(groupLabelKey)
    .slice(0, 1)
    .map((problem) => invalid(at.child('groupLabelKey'), groupLabelKey, problem));
  if (minReadyReplicas !== undefined && minReadyReplicas < 1) {
    issues.push(invalid(at.child('minReadyReplicas'), minReadyReplicas, 'must be greater than or equal to 1'));
  }
  return issues;
}

function validateCapacity({ capacityPolicy }: PodUnavailableBudgetSpec): Issue[] {
  if (capacityPolicy === undefined) return [];
  const at = SPEC.child('capacityPolicy');
  const { mode = '', onReserveFailure, reserveFor } = capacityPolicy;
  const issues: Issue[] = [];
  if (!(CAPACITY_MODES as readonly string[]).includes(mode)) {
    issues.push(notSupported(at.child('mode'), mode, CAPACITY_MODES));
  }
  if (reserveFor !== undefined && reserveFor !== '0' && readReserveMs(reserveFor) === undefined) {
    issues.push(invalid(at.child('reserveFor'), reserveFor, 'must be a duration from 10s to 24h, or 0'));
  }
  if (onReserveFailure !== undefined && !(RESERVE_FAILURES as readonly string[]).includes(onReserveFailure)) {
    issues.push(notSupported(at.child('onReserveFailure'), onReserveFailure, RESERVE_FAILURES));
  }
  return issues;
}

function validateTotalReplicas({ metadata, spec }: PodUnavailableBudget): Issue[] {
  const issues: Issue[] = [];
  const total = spec?.protectTotalReplicas;
  if (total !== undefined && total < 1) {
    issues.push(invalid(SPEC.child('protectTotalReplicas'), total, 'should be greater than or equal to 1'));
  }
  const annotation = metadata.annotations?.[TOTAL_REPLICAS_ANNOTATION];
  if (annotation === undefined) return issues;
  const at = ANNOTATIONS.key(TOTAL_REPLICAS_ANNOTATION);
  if (!isInt32(annotation)) issues.push(invalid(at, annotation, 'must be a valid int32'));
  else if (total !== undefined && Number(annotation) !== total) {
    issues.push(invalid(at, annotation, 'must match spec.protectTotalReplicas when both are set'));
  }
  return issues;
}

function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

function isSameReference(a: TargetReference, b: TargetReference): boolean {
  const groupOf = ({ apiVersion = '' }: TargetReference): string => splitApiVersion(apiVersion).group;
  return groupOf(a) === groupOf(b) && a.kind === b.kind && a.name === b.name;
}

/**
 * Deliberately loose, as clients know it: two selectors overlap only when they mention exactly the same keys and every
 * key's requirements can hold for both at once.
 */
export function selectorsOverlap(a: LabelSelector, b: LabelSelector): boolean {
  const left = byKey(fromLabelSelector(a).requirements);
  const right = byKey(fromLabelSelector(b).requirements);
  if (left.size !== right.size) return false;
  for (const [key, requirements] of left) {
    const others = right.get(key);
    if (others === undefined || !canHoldTogether([...requirements, ...others])) return false;
  }
  return true;
}

function byKey(requirements: readonly Requirement[]): Map<string, Requirement[]> {
  const found = new Map<string, Requirement[]>();
  for (const requirement of requirements) {
    found.set(requirement.key, [...(found.get(requirement.key) ?? []), requirement]);
  }
  return found;
}

function canHoldTogether(requirements: readonly Requirement[]): boolean {
  const needsValue = requirements.some(({ operator }) => operator === 'In' || operator === 'Exists');
  const needsAbsence = requirements.some(({ operator }) => operator === 'DoesNotExist');
  if (needsAbsence) return !needsValue;
  const excluded = new Set(requirements.filter(({ operator }) => operator === 'NotIn').flatMap(({ values }) => values));
  const wanted = requirements.filter(({ operator }) => operator === 'In');
  const [first, ...rest] = wanted;
  if (first === undefined) return true;
  return first.values.some((value) => !excluded.has(value) && rest.every(({ values }) => values.includes(value)));
}
