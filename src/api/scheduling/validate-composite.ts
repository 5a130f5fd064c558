import {
  checkDnsLabel,
  checkDnsSubdomain,
  FieldPath,
  invalid,
  type Issue,
  required,
  semanticEqual,
  validateName,
} from '../../machinery/values/index.ts';
import type { CompositePodGroup, CompositePodGroupSpec } from '../generated/scheduling-v1alpha3.ts';
import { validateCompositePolicy } from './validate-templates.ts';

const SPEC = FieldPath.of('spec');

/** Like a PodGroup, with the template it comes from required: a tree is always one of a Workload. */
export function validateComposite({ spec }: CompositePodGroup): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const { parentCompositePodGroupName: parent, workloadRef } = spec;
  const link = SPEC.child('workloadRef');
  return [
    ...(parent === undefined ? [] : validateName(SPEC.child('parentCompositePodGroupName'), parent, checkDnsSubdomain)),
    ...(workloadRef === undefined
      ? [required(link)]
      : [
          ...validateName(link.child('workloadName'), workloadRef.workloadName ?? '', checkDnsSubdomain),
          ...validateName(link.child('templateName'), workloadRef.templateName ?? '', checkDnsLabel),
        ]),
    ...validateCompositePolicy(SPEC, spec),
  ];
}

/** Nothing of a composite ever changes. */
export function validateCompositeUpdate(composite: CompositePodGroup, old: CompositePodGroup): Issue[] {
  const { spec: after = {} as CompositePodGroupSpec } = composite;
  const { spec: before = {} as CompositePodGroupSpec } = old;
  const fields = new Set([...Object.keys(after), ...Object.keys(before)] as (keyof CompositePodGroupSpec)[]);
  return [...fields]
    .filter((field) => !semanticEqual(after[field], before[field]))
    .map((field) => invalid(SPEC.child(field), after[field] ?? null, 'field is immutable'));
}

export function defaultComposite({ spec }: CompositePodGroup): void {
  if (spec !== undefined) spec.disruptionMode ??= { single: {} };
}
