import {
  FieldPath,
  forbidden,
  fromLabelSelector,
  invalid,
  type Issue,
  notSupported,
  parsePercent,
  required,
  type Selector,
  semanticEqual,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import type {
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  ReplicaSet,
  ReplicaSetSpec,
} from '../generated/apps-v1.ts';
import type { LabelSelector } from '../generated/meta-v1.ts';
import { validatePicker } from './picker-validation.ts';
import {
  collisionsOnlyGrow,
  nonNegative,
  positiveIntOrPercent,
  type TemplateCheck,
  validateReplicaCounts,
  validateReplicaTemplate,
} from './replicas-validation.ts';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');
const IMMUTABLE = 'field is immutable';

/** Takes a defaulted ReplicaSet. */
export function validateReplicaSet({ spec }: ReplicaSet, check: TemplateCheck): Issue[] {
  return spec === undefined ? [required(SPEC)] : validateSpec(spec, check);
}

export function validateReplicaSetUpdate(update: ReplicaSet, old: ReplicaSet, check: TemplateCheck): Issue[] {
  return [...validateReplicaSet(update, check), ...selectorUnchanged(update.spec, old.spec)];
}

export function validateReplicaSetStatus({ status }: ReplicaSet): Issue[] {
  return status === undefined ? [] : validateReplicaCounts(status, STATUS);
}

/** Takes a defaulted Deployment. */
export function validateDeployment({ spec }: Deployment, check: TemplateCheck): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const { minReadySeconds = 0, progressDeadlineSeconds, revisionHistoryLimit, strategy = {} } = spec;
  const issues = [
    ...validateSpec(spec, check),
    ...validateStrategy(strategy, SPEC.child('strategy')),
    ...nonNegative(revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
    ...nonNegative(progressDeadlineSeconds, SPEC.child('progressDeadlineSeconds')),
  ];
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    issues.push(
      invalid(SPEC.child('progressDeadlineSeconds'), progressDeadlineSeconds, 'must be greater than minReadySeconds'),
    );
  }
  return issues;
}

export function validateDeploymentUpdate(update: Deployment, old: Deployment, check: TemplateCheck): Issue[] {
  return [...validateDeployment(update, check), ...selectorUnchanged(update.spec, old.spec)];
}

export function validateDeploymentStatus({ status }: Deployment, old: Deployment): Issue[] {
  const issues = status === undefined ? [] : validateReplicaCounts(status, STATUS);
  return [...issues, ...collisionsOnlyGrow(status, old.status)];
}

function validateSpec(spec: ReplicaSetSpec | DeploymentSpec, check: TemplateCheck): Issue[] {
  const { downscalePodPicker, minReadySeconds, replicas, selector, template } = spec;
  const issues = [
    ...nonNegative(replicas, SPEC.child('replicas')),
    ...nonNegative(minReadySeconds, SPEC.child('minReadySeconds')),
    ...validateSelector(selector, SPEC.child('selector')),
  ];
  const parsed = parseSelector(selector);
  if (parsed === undefined) issues.push(invalid(SPEC.child('selector'), selector, 'invalid label selector'));
  else {
    issues.push(
      ...validateReplicaTemplate(template, SPEC.child('template'), { kind: 'ReplicaSet', selector: parsed, check }),
    );
  }
  if (downscalePodPicker) issues.push(...validatePicker(downscalePodPicker, SPEC.child('downscalePodPicker')));
  return issues;
}

function validateSelector(selector: LabelSelector | undefined, path: FieldPath): Issue[] {
  if (selector === undefined || selector === null) return [required(path)];
  const issues = validateLabelSelector(path, selector);
  if (Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0) {
    issues.push(invalid(path, selector, 'empty selector is invalid for deployment'));
  }
  return issues;
}

function parseSelector(selector: LabelSelector | undefined): Selector | undefined {
  try {
    return fromLabelSelector(selector);
  } catch {
    return undefined;
  }
}

function selectorUnchanged(spec: { selector?: LabelSelector | undefined } | undefined, old: typeof spec): Issue[] {
  if (semanticEqual(spec?.selector, old?.selector)) return [];
  return [invalid(SPEC.child('selector'), spec?.selector, IMMUTABLE)];
}

function validateStrategy(strategy: DeploymentStrategy, path: FieldPath): Issue[] {
  const { rollingUpdate, type } = strategy;
  if (type === 'Recreate') {
    return rollingUpdate === undefined
      ? []
      : [forbidden(path.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate') return [notSupported(path, strategy, ['Recreate', 'RollingUpdate'])];
  const at = path.child('rollingUpdate');
  if (rollingUpdate === undefined) return [required(at, 'this should be defaulted and never be nil')];
  const { maxSurge, maxUnavailable } = rollingUpdate;
  const issues = [
    ...positiveIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...positiveIntOrPercent(maxSurge, at.child('maxSurge')),
  ];
  if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0) {
    issues.push(invalid(at.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if (maxUnavailable !== undefined && (parsePercent(maxUnavailable) ?? 0) > 100) {
    issues.push(invalid(at.child('maxUnavailable'), maxUnavailable, 'must not be greater than 100%'));
  }
  return issues;
}

const amount = (value: number | string | undefined): number =>
  typeof value === 'string' ? (parsePercent(value) ?? 0) : (value ?? 0);
