/** Deployment, ReplicaSet, StatefulSet, DaemonSet and ReplicationController: what they share, and what each adds. */
import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import {
  FieldPath,
  fromLabelSelector,
  invalid,
  type Issue,
  type LabelSelectorShape,
  matches,
  parsePercent,
  required,
  semanticEqual,
  validateLabelSelector,
} from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import { validatePodTemplate } from '../core/pod-validation.ts';

export interface WorkloadSpec {
  replicas?: number | undefined;
  selector?: LabelSelectorShape | undefined;
  template?: PodTemplateSpec | undefined;
  minReadySeconds?: number | undefined;
  [field: string]: unknown;
}

export const specOf = (object: ApiObject): WorkloadSpec => (object['spec'] ??= {}) as WorkloadSpec;

const SPEC = FieldPath.of('spec');

export function nonNegative(value: unknown, path: FieldPath): Issue[] {
  if (value === undefined || value === null) return [];
  return typeof value === 'number' && value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')];
}

/** A whole number or a percentage such as `25%`. */
export function validIntOrPercent(value: unknown, path: FieldPath): Issue[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'number') return nonNegative(value, path);
  return typeof value === 'string' && parsePercent(value) !== undefined
    ? []
    : [
        invalid(
          path,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      ];
}

export function validateWorkload(object: ApiObject): Issue[] {
  const spec = specOf(object);
  const issues = [
    ...nonNegative(spec.replicas, SPEC.child('replicas')),
    ...nonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
  ];
  if (spec.selector === undefined || spec.selector === null) {
    issues.push(required(SPEC.child('selector')));
  } else {
    const problems = validateLabelSelector(SPEC.child('selector'), spec.selector);
    issues.push(...problems);
    const empty =
      Object.keys(spec.selector.matchLabels ?? {}).length + (spec.selector.matchExpressions ?? []).length === 0;
    if (empty) issues.push(invalid(SPEC.child('selector'), spec.selector, 'empty selector is invalid for deployment'));
    if (
      problems.length === 0 &&
      !empty &&
      !matches(fromLabelSelector(spec.selector), spec.template?.metadata?.labels)
    ) {
      issues.push(
        invalid(
          SPEC.child('template', 'metadata', 'labels'),
          spec.template?.metadata?.labels ?? {},
          '`selector` does not match template `labels`',
        ),
      );
    }
  }
  issues.push(...validatePodTemplate(spec.template, SPEC.child('template'), { restartPolicies: ['Always'] }));
  return issues;
}

export function validateSelectorUnchanged(object: ApiObject, old: ApiObject): Issue[] {
  const selector = specOf(object).selector;
  return semanticEqual(selector, specOf(old).selector)
    ? []
    : [invalid(SPEC.child('selector'), selector ?? null, 'field is immutable')];
}
