/** The selector rules that StatefulSet and DaemonSet share. */
import {
  FieldPath,
  fromLabelSelector,
  invalid,
  type Issue,
  required,
  type Selector,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import type { PodTemplateSpec } from '../generated/core-v1.ts';
import type { LabelSelector } from '../generated/meta-v1.ts';
import { type TemplateCheck, validateReplicaTemplate } from './replicas-validation.ts';

const SPEC = FieldPath.of('spec');

export interface SetRules {
  readonly kind: string;
  /** Said of a selector that selects everything. */
  readonly emptyText: string;
  readonly check: TemplateCheck;
}

export function validateSetSelector(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  { check, emptyText, kind }: SetRules,
): Issue[] {
  const path = SPEC.child('selector');
  const issues: Issue[] = [];
  if (selector === undefined || selector === null) issues.push(required(path));
  else {
    issues.push(...validateLabelSelector(path, selector));
    if (Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0) {
      issues.push(invalid(path, selector, emptyText));
    }
  }
  let parsed: Selector;
  try {
    parsed = fromLabelSelector(selector);
  } catch {
    return [...issues, invalid(path, selector, 'invalid label selector')];
  }
  return [...issues, ...validateReplicaTemplate(template, SPEC.child('template'), { kind, selector: parsed, check })];
}
