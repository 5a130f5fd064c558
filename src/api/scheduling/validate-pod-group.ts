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
import type { SchedulingVersion, StoredPodGroup, StoredPodGroupSpec } from './stored.ts';
import { validateExtras, validatePolicy } from './validate-templates.ts';

const SPEC = FieldPath.of('spec');

/** Where each version names the Workload and the template in it. */
const LINK: Readonly<Record<SchedulingVersion, readonly [workload: FieldPath, template: FieldPath]>> = {
  v1beta1: [SPEC.child('workloadRef', 'workloadName'), SPEC.child('workloadRef', 'templateName')],
  v1alpha2: [
    SPEC.child('podGroupTemplateRef', 'workload', 'workloadName'),
    SPEC.child('podGroupTemplateRef', 'workload', 'podGroupTemplateName'),
  ],
  v1alpha1: [SPEC.child('workloadRef', 'name'), SPEC.child('podGroupTemplateName')],
};

/**
 * Rules that hold whenever a PodGroup is written. The draft (v1alpha1) names its Workload and template and has no
 * policy of its own; the other versions have one and may name where it came from.
 */
export function validatePodGroup({ spec }: StoredPodGroup, version: SchedulingVersion): Issue[] {
  const { parentCompositePodGroupName: parent, workloadRef } = spec;
  const isDraft = spec.schedulingPolicy === undefined && workloadRef !== undefined;
  const [workloadPath, templatePath] = LINK[version];
  const issues: Issue[] = [];
  if (version === 'v1alpha1' && workloadRef === undefined && spec.schedulingPolicy === undefined) {
    issues.push(required(SPEC.child('workloadRef')));
  }
  if (workloadRef !== undefined) {
    issues.push(...validateLink(workloadPath, workloadRef.workloadName, checkDnsSubdomain));
    issues.push(...validateLink(templatePath, workloadRef.templateName, checkDnsLabel));
  }
  if (parent !== undefined) {
    issues.push(...validateName(SPEC.child('parentCompositePodGroupName'), parent, checkDnsSubdomain));
    if (workloadRef === undefined) {
      issues.push(required(SPEC.child('workloadRef'), 'must be specified with parentCompositePodGroupName'));
    }
  }
  // A group of the draft that is changed in a later version goes on without a policy of its own.
  issues.push(...(version === 'v1alpha1' || isDraft ? validateExtras(SPEC, spec) : validatePolicy(SPEC, spec)));
  return issues;
}

const validateLink = (path: FieldPath, value: string, check: typeof checkDnsLabel): Issue[] =>
  value ? validateName(path, value, check) : [required(path)];

/** v1beta1 lets a gang's `minCount` change; nothing else of the spec ever does. */
export function validatePodGroupUpdate(
  group: StoredPodGroup,
  old: StoredPodGroup,
  version: SchedulingVersion,
): Issue[] {
  const issues: Issue[] = [];
  const fields = new Set([...Object.keys(group.spec), ...Object.keys(old.spec)] as (keyof StoredPodGroupSpec)[]);
  for (const field of fields) {
    if (field === 'draft' || semanticEqual(group.spec[field], old.spec[field])) continue;
    if (field === 'schedulingPolicy' && version === 'v1beta1') {
      const before = old.spec.schedulingPolicy;
      const after = group.spec.schedulingPolicy;
      if (before?.gang !== undefined && after?.gang !== undefined && after.basic === undefined) continue;
      issues.push(invalid(SPEC.child(field), after ?? null, 'the kind of policy is immutable'));
      continue;
    }
    const path = field === 'workloadRef' ? LINK[version][0] : SPEC.child(field);
    issues.push(invalid(path, group.spec[field] ?? null, 'field is immutable'));
  }
  return issues;
}
