import {
  checkPathSegment,
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  required,
  semanticEqual,
  validateName,
} from '../../machinery/values/index.ts';
import type { CompositePodGroupTemplate } from '../generated/scheduling-v1beta1.ts';
import type { SchedulingVersion, StoredTemplate, StoredWorkload } from './stored.ts';
import { type TemplateTree, validateTree } from './validate-templates.ts';

const SPEC = FieldPath.of('spec');

/** Rules that hold whenever a Workload is written, in any version or in the one it is written in. */
export function validateWorkload({ spec }: StoredWorkload, version: SchedulingVersion): Issue[] {
  const { compositePodGroupTemplates, controllerRef, podGroupTemplates } = spec;
  const issues: Issue[] = [];
  const list = version === 'v1alpha1' && !spec.draftList ? 'podGroups' : 'podGroupTemplates';
  const leaves = podGroupTemplates?.length ?? 0;
  const composites = compositePodGroupTemplates?.length ?? 0;
  if (leaves === 0 && composites === 0) {
    issues.push(required(SPEC.child(list), 'must have at least one item'));
  } else if (leaves > 0 && composites > 0) {
    const detail = 'must specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`';
    issues.push(invalid(SPEC, '{podGroupTemplates, compositePodGroupTemplates}', detail));
  }
  issues.push(...spelled(validateTree(SPEC, spec, new Set()), version, list));
  if (controllerRef !== undefined) {
    const path = SPEC.child('controllerRef');
    if (!controllerRef.kind) issues.push(required(path.child('kind')));
    else issues.push(...validateName(path.child('kind'), controllerRef.kind, checkPathSegment));
    if (!controllerRef.name) issues.push(required(path.child('name')));
    else issues.push(...validateName(path.child('name'), controllerRef.name, checkPathSegment));
  }
  if (version === 'v1beta1') issues.push(...validateOnePriority(spec));
  return issues;
}

/** The paths of v1alpha1: another name for the list, and for the policy in it. */
function spelled(issues: readonly Issue[], version: SchedulingVersion, list: string): Issue[] {
  if (version !== 'v1alpha1') return [...issues];
  return issues.map((issue) => ({
    ...issue,
    path: issue.path.replace('podGroupTemplates', list).replace('.schedulingPolicy', '.policy'),
  }));
}

interface Prioritised {
  readonly priority?: number | undefined;
  readonly priorityClassName?: string | undefined;
}

function* prioritiesOf(path: FieldPath, tree: TemplateTree): Generator<{ path: FieldPath; template: Prioritised }> {
  for (const [index, template] of (tree.podGroupTemplates ?? []).entries()) {
    yield { path: path.child('podGroupTemplates').index(index), template };
  }
  for (const [index, template] of (tree.compositePodGroupTemplates ?? []).entries()) {
    const at = path.child('compositePodGroupTemplates').index(index);
    yield { path: at, template };
    yield* prioritiesOf(at, template);
  }
}

/** Groups of one Workload rank alike: one cannot preempt another. */
function validateOnePriority(tree: TemplateTree): Issue[] {
  const issues: Issue[] = [];
  let first: Prioritised | undefined;
  for (const { path, template } of prioritiesOf(SPEC, tree)) {
    first ??= template;
    for (const field of ['priorityClassName', 'priority'] as const) {
      if ((template[field] ?? '') === (first[field] ?? '')) continue;
      issues.push(invalid(path.child(field), template[field] ?? '', 'must be the same in all templates'));
    }
  }
  return issues;
}

/**
 * What may change, by the version of the write: v1alpha1 lets `controllerRef` be set once; v1beta1 lets the `minCount`
 * of a gang change; the rest is fixed from the start.
 */
export function validateWorkloadUpdate(
  workload: StoredWorkload,
  old: StoredWorkload,
  version: SchedulingVersion,
): Issue[] {
  const issues: Issue[] = [];
  const setOnce = version === 'v1alpha1' && old.spec.controllerRef === undefined;
  if (!setOnce && !semanticEqual(workload.spec.controllerRef, old.spec.controllerRef)) {
    issues.push(invalid(SPEC.child('controllerRef'), workload.spec.controllerRef ?? null, 'field is immutable'));
  }
  const list = version === 'v1alpha1' && !old.spec.draftList ? 'podGroups' : 'podGroupTemplates';
  const frozen = version === 'v1beta1' ? withoutMinCounts : <T>(tree: T): T => tree;
  const templates = (tree: TemplateTree): readonly StoredTemplate[] | undefined => tree.podGroupTemplates;
  if (!semanticEqual(templates(frozen(workload.spec)), templates(frozen(old.spec)))) {
    const detail = version === 'v1beta1' ? 'templates cannot change except for minCount' : 'field is immutable';
    issues.push(
      version === 'v1beta1'
        ? forbidden(SPEC.child(list), detail)
        : invalid(SPEC.child(list), workload.spec.podGroupTemplates ?? [], detail),
    );
  }
  const composites = (tree: TemplateTree): readonly CompositePodGroupTemplate[] | undefined =>
    tree.compositePodGroupTemplates;
  if (!semanticEqual(composites(frozen(workload.spec)), composites(frozen(old.spec)))) {
    const path = SPEC.child('compositePodGroupTemplates');
    issues.push(forbidden(path, 'templates cannot change except for minCount'));
  }
  return issues;
}

/** The tree with every gang's `minCount` blanked, to compare the rest. */
function withoutMinCounts<T extends TemplateTree>(tree: T): T {
  return {
    ...tree,
    podGroupTemplates: tree.podGroupTemplates?.map((template) =>
      template.schedulingPolicy?.gang === undefined
        ? template
        : { ...template, schedulingPolicy: { ...template.schedulingPolicy, gang: { minCount: 0 } } },
    ),
    compositePodGroupTemplates: tree.compositePodGroupTemplates?.map((template) => withoutMinCounts(template)),
  };
}
