import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkQualifiedName,
  duplicate,
  type FieldPath,
  invalid,
  type Issue,
  notSupported,
  required,
  tooMany,
  validateName,
} from '../../machinery/values/index.ts';
import type {
  CompositePodGroupTemplate,
  DisruptionMode,
  PodGroupResourceClaim,
} from '../generated/scheduling-v1beta1.ts';
import type { StoredPodGroupSpec, StoredTemplate } from './stored.ts';

export const MAX_TEMPLATES = 8;
const MAX_DEPTH = 4;
const MAX_TOPOLOGY = 1;
const MAX_CLAIMS = 4;
const HIGHEST_PRIORITY = 1_000_000_000;

const exactlyOne = (path: FieldPath, object: object | undefined, names: readonly string[]): Issue[] => {
  const given = names.filter((name) => (object as Record<string, unknown> | undefined)?.[name] !== undefined);
  const list = names.map((name) => `\`${name}\``).join(', ');
  if (given.length === 1) return [];
  return given.length === 0
    ? [required(path, `must specify one of: ${list}`)]
    : [invalid(path, `{${given.join(', ')}}`, `must specify exactly one of: ${list}`)];
};

const atLeastOne = (path: FieldPath, value: unknown): Issue[] =>
  typeof value === 'number' && value >= 1 ? [] : [invalid(path, value, 'must be greater than or equal to 1')];

/** What a PodGroup and a template for one have in common. */
export function validatePolicy(path: FieldPath, spec: Omit<StoredPodGroupSpec, 'workloadRef' | 'draft'>): Issue[] {
  const { schedulingPolicy } = spec;
  const policy = path.child('schedulingPolicy');
  const gang = schedulingPolicy?.gang;
  return [
    ...exactlyOne(policy, schedulingPolicy, ['basic', 'gang']),
    ...(gang === undefined ? [] : atLeastOne(policy.child('gang', 'minCount'), gang.minCount)),
    ...validateExtras(path, spec),
  ];
}

export function validateExtras(path: FieldPath, spec: Omit<StoredPodGroupSpec, 'workloadRef' | 'draft'>): Issue[] {
  return [
    ...validateTopology(path, spec.schedulingConstraints),
    ...validateClaims(path.child('resourceClaims'), spec.resourceClaims ?? []),
    ...validateDisruption(path.child('disruptionMode'), spec.disruptionMode),
    ...validatePriority(path, spec),
  ];
}

function validateTopology(path: FieldPath, constraints: StoredPodGroupSpec['schedulingConstraints']): Issue[] {
  const topology = constraints?.topology ?? [];
  const at = path.child('schedulingConstraints', 'topology');
  return [
    ...(topology.length > MAX_TOPOLOGY ? [tooMany(at, topology.length, MAX_TOPOLOGY)] : []),
    ...topology.flatMap(({ key }, index) => validateName(at.index(index).child('key'), key ?? '', checkQualifiedName)),
  ];
}

function validatePriority(
  path: FieldPath,
  {
    preemptionPolicy,
    priority,
    priorityClassName,
  }: Pick<StoredPodGroupSpec, 'preemptionPolicy' | 'priority' | 'priorityClassName'>,
): Issue[] {
  const issues: Issue[] = [];
  if (priorityClassName)
    issues.push(...validateName(path.child('priorityClassName'), priorityClassName, checkDnsSubdomain));
  // System classes lie above and are given by admission, so their names are the exception.
  if (priority !== undefined && priority > HIGHEST_PRIORITY && !priorityClassName?.startsWith('system-')) {
    issues.push(invalid(path.child('priority'), priority, `must be less than or equal to ${HIGHEST_PRIORITY}`));
  }
  const policies = ['Never', 'PreemptLowerPriority'];
  if (preemptionPolicy !== undefined && !policies.includes(preemptionPolicy)) {
    issues.push(notSupported(path.child('preemptionPolicy'), preemptionPolicy, policies));
  }
  return issues;
}

const validateDisruption = (path: FieldPath, mode: DisruptionMode | undefined): Issue[] =>
  mode === undefined ? [] : exactlyOne(path, mode, ['single', 'all']);

function validateClaims(path: FieldPath, claims: readonly PodGroupResourceClaim[]): Issue[] {
  const issues: Issue[] = claims.length > MAX_CLAIMS ? [tooMany(path, claims.length, MAX_CLAIMS)] : [];
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const at = path.index(index);
    issues.push(...validateName(at.child('name'), claim.name ?? '', checkDnsLabel));
    if (seen.has(claim.name)) issues.push(duplicate(at.child('name'), claim.name));
    seen.add(claim.name);
    issues.push(...exactlyOne(at, claim, ['resourceClaimName', 'resourceClaimTemplateName']));
  }
  return issues;
}

/** What a CompositePodGroup and a template for one have in common. */
export function validateCompositePolicy(path: FieldPath, spec: Omit<CompositePodGroupTemplate, 'name'>): Issue[] {
  const { disruptionMode, schedulingConstraints, schedulingPolicy } = spec;
  const policy = path.child('schedulingPolicy');
  const gang = schedulingPolicy?.gang;
  return [
    ...exactlyOne(policy, schedulingPolicy, ['basic', 'gang']),
    ...(gang === undefined ? [] : atLeastOne(policy.child('gang', 'minGroupCount'), gang.minGroupCount)),
    ...validateTopology(path, schedulingConstraints),
    ...validateDisruption(path.child('disruptionMode'), disruptionMode),
    ...validatePriority(path, spec),
  ];
}

export interface TemplateTree {
  readonly podGroupTemplates?: readonly StoredTemplate[] | undefined;
  readonly compositePodGroupTemplates?: readonly CompositePodGroupTemplate[] | undefined;
}

/** Both lists of one level of the tree; names are unique over the whole of it. */
export function validateTree(path: FieldPath, tree: TemplateTree, names: Set<string>, depth = 1): Issue[] {
  const leaves = tree.podGroupTemplates ?? [];
  const composites = tree.compositePodGroupTemplates ?? [];
  const leafPath = path.child('podGroupTemplates');
  const compositePath = path.child('compositePodGroupTemplates');
  const issues: Issue[] = [];
  if (leaves.length > MAX_TEMPLATES) issues.push(tooMany(leafPath, leaves.length, MAX_TEMPLATES));
  if (composites.length > MAX_TEMPLATES) issues.push(tooMany(compositePath, composites.length, MAX_TEMPLATES));
  const claim = (at: FieldPath, name: string | undefined): void => {
    issues.push(...validateName(at.child('name'), name ?? '', checkDnsLabel));
    if (name !== undefined && names.has(name)) issues.push(duplicate(at.child('name'), name));
    names.add(name ?? '');
  };
  for (const [index, template] of leaves.entries()) {
    claim(leafPath.index(index), template.name);
    issues.push(...validatePolicy(leafPath.index(index), template));
    if (template.replicas !== undefined && !(template.replicas >= 0)) {
      issues.push(
        invalid(leafPath.index(index).child('replicas'), template.replicas, 'must be greater than or equal to 0'),
      );
    }
  }
  for (const [index, template] of composites.entries()) {
    const at = compositePath.index(index);
    claim(at, template.name);
    issues.push(...validateCompositePolicy(at, template));
    const children = (template.podGroupTemplates?.length ?? 0) + (template.compositePodGroupTemplates?.length ?? 0);
    if (children === 0) issues.push(required(at, 'must have at least one child template'));
    // A leaf is a level too.
    if (depth + 1 > MAX_DEPTH) {
      issues.push(invalid(at, template.name, `the tree of templates must not be deeper than ${MAX_DEPTH} levels`));
    } else issues.push(...validateTree(at, template, names, depth + 1));
  }
  return issues;
}
