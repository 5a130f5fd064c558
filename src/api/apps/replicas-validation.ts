/** Rules that ReplicaSet, Deployment and ReplicationController share. */
import {
  FieldPath,
  forbidden,
  invalid,
  isPercent,
  type Issue,
  type IntOrPercent,
  matches,
  notSupported,
  required,
  type Selector,
} from '../../machinery/values/index.ts';
import type { PodTemplateSpec } from '../generated/core-v1.ts';

/** Checks a pod template as such; kinds add their own rules. */
export type TemplateCheck = (template: PodTemplateSpec, path: FieldPath) => Issue[];

export function nonNegative(value: number | undefined, path: FieldPath): Issue[] {
  return value !== undefined && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

export function positiveIntOrPercent(value: IntOrPercent | undefined, path: FieldPath): Issue[] {
  if (typeof value === 'string') return isPercent(value) ? [] : [invalid(path, value, PERCENT_TEXT)];
  return nonNegative(value, path);
}

export interface TemplateRules {
  readonly kind: string;
  readonly selector: Selector;
  readonly check: TemplateCheck;
}

export function validateReplicaTemplate(
  template: PodTemplateSpec | undefined,
  path: FieldPath,
  { check, kind, selector }: TemplateRules,
): Issue[] {
  if (template === undefined || template === null) return [required(path)];
  const issues: Issue[] = [];
  const { metadata, spec } = template;
  if (selector.requirements.length > 0 && !matches(selector, metadata?.labels)) {
    issues.push(
      invalid(path.child('metadata', 'labels'), metadata?.labels, '`selector` does not match template `labels`'),
    );
  }
  issues.push(...check(template, path));
  if (spec?.restartPolicy !== undefined && spec.restartPolicy !== 'Always') {
    issues.push(notSupported(path.child('spec', 'restartPolicy'), spec.restartPolicy, ['Always']));
  }
  if (spec?.activeDeadlineSeconds !== undefined) {
    issues.push(
      forbidden(path.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`),
    );
  }
  return issues;
}

export interface ReplicaCounts {
  readonly replicas?: number | undefined;
  readonly fullyLabeledReplicas?: number | undefined;
  readonly updatedReplicas?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly availableReplicas?: number | undefined;
  readonly unavailableReplicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly collisionCount?: number | undefined;
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'observedGeneration',
  'collisionCount',
] as const;

export function validateReplicaCounts(counts: ReplicaCounts, path: FieldPath): Issue[] {
  const issues = COUNTS.flatMap((name) => nonNegative(counts[name], path.child(name)));
  const total = counts.replicas ?? 0;
  for (const name of ['fullyLabeledReplicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    const count = counts[name] ?? 0;
    if (count > total) issues.push(invalid(path.child(name), count, 'cannot be greater than status.replicas'));
  }
  const available = counts.availableReplicas ?? 0;
  if (available > (counts.readyReplicas ?? 0)) {
    issues.push(invalid(path.child('availableReplicas'), available, 'cannot be greater than readyReplicas'));
  }
  return issues;
}

interface Collisions {
  readonly collisionCount?: number | undefined;
}

export function collisionsOnlyGrow(status: Collisions | undefined, old: Collisions | undefined): Issue[] {
  const collisions = status?.collisionCount ?? 0;
  if (collisions >= (old?.collisionCount ?? 0)) return [];
  return [invalid(FieldPath.of('status', 'collisionCount'), collisions, 'cannot be decremented')];
}
