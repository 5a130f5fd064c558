import {
  checkDnsLabel,
  FieldPath,
  fromLabelSelector,
  invalid,
  type Issue,
  matches,
  notSupported,
  required,
  semanticEqual,
  tooLong,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import { nonNegative, type TemplateCheck } from '../apps/replicas-validation.ts';
import type { Job, JobSpec } from '../generated/batch-v1.ts';
import { validateScheduling, validateSchedulingUpdate } from './scheduling-validation.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './policy-validation.ts';

const SPEC = FieldPath.of('spec');
const IMMUTABLE = 'field is immutable';
const MAX_INDEXED = 100_000;

/** Takes a defaulted Job with its selector generated. */
export function validateJob({ metadata, spec }: Job, check: TemplateCheck): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const issues = [...validateGeneratedSelector(metadata, spec), ...validateJobSpec(spec, SPEC, check)];
  const selectorPath = SPEC.child('selector');
  if (spec.selector === undefined) issues.push(required(selectorPath));
  else {
    const problems = validateLabelSelector(selectorPath, spec.selector);
    issues.push(...problems);
    if (problems.length === 0 && !matches(fromLabelSelector(spec.selector), spec.template.metadata?.labels)) {
      const at = SPEC.child('template', 'metadata', 'labels');
      issues.push(invalid(at, spec.template.metadata?.labels, '`selector` does not match template `labels`'));
    }
  }
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > 0) {
    const hostname = `${metadata.name}-${(spec.completions ?? 0) - 1}`;
    if (checkDnsLabel(hostname).length > 0) {
      const text = `will not able to create pod with invalid DNS label: ${hostname}`;
      issues.push(invalid(FieldPath.of('metadata', 'name'), metadata.name, text));
    }
  }
  return issues;
}

function validateGeneratedSelector(metadata: Job['metadata'], spec: JobSpec): Issue[] {
  if (spec.manualSelector || spec.selector === undefined) return [];
  const path = SPEC.child('template', 'metadata', 'labels');
  const labels = spec.template.metadata?.labels ?? {};
  const expected: Record<string, string> = {
    'controller-uid': metadata.uid ?? '',
    'job-name': metadata.name ?? '',
    'batch.kubernetes.io/controller-uid': metadata.uid ?? '',
    'batch.kubernetes.io/job-name': metadata.name ?? '',
  };
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(expected)) {
    if (labels[name] === undefined) issues.push(required(path.key(name), `must be '${value}'`));
    else if (labels[name] !== value) issues.push(invalid(path.key(name), labels, `must be '${value}'`));
  }
  try {
    if (!matches(fromLabelSelector(spec.selector), expected)) {
      issues.push(invalid(SPEC.child('selector'), spec.selector, '`selector` not auto-generated'));
    }
  } catch {
    // A selector that cannot be read is reported where it is read.
  }
  return issues;
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** What Jobs and the Job templates of CronJobs share. */
export function validateJobSpec(spec: JobSpec, path: FieldPath, check: TemplateCheck): Issue[] {
  const issues = COUNTS.flatMap((name) => nonNegative(spec[name], path.child(name)));
  const { backoffLimitPerIndex, completionMode = 'NonIndexed', managedBy, maxFailedIndexes, successPolicy } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    issues.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  if (managedBy !== undefined) {
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/.+$/.test(managedBy)) {
      issues.push(
        invalid(path.child('managedBy'), managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")'),
      );
    }
    if (managedBy.length > 63) issues.push(tooLong(path.child('managedBy'), 63));
  }
  if (completionMode === 'Indexed') issues.push(...validateIndexed(spec, path));
  else if (completionMode === 'NonIndexed') {
    const needs = 'requires indexed completion mode';
    if (backoffLimitPerIndex !== undefined) {
      issues.push(invalid(path.child('backoffLimitPerIndex'), backoffLimitPerIndex, needs));
    }
    if (maxFailedIndexes !== undefined) issues.push(invalid(path.child('maxFailedIndexes'), maxFailedIndexes, needs));
    if (successPolicy !== undefined) issues.push(invalid(path.child('successPolicy'), successPolicy, needs));
  } else {
    issues.push(notSupported(path.child('completionMode'), completionMode, ['NonIndexed', 'Indexed']));
  }
  issues.push(...validateFailurePolicy(spec, path.child('podFailurePolicy')));
  issues.push(...validateReplacement(spec, path.child('podReplacementPolicy')));
  issues.push(...validateScheduling(spec, path.child('scheduling')));
  if (spec.template === undefined || spec.template === null) return [...issues, required(path.child('template'))];
  return [...issues, ...check(spec.template, path.child('template')), ...validateRestartPolicy(spec, path)];
}

function validateIndexed(spec: JobSpec, path: FieldPath): Issue[] {
  const { completions, maxFailedIndexes, parallelism = 0 } = spec;
  const issues: Issue[] = [];
  if (completions === undefined) issues.push(required(path.child('completions'), 'when completion mode is Indexed'));
  if (parallelism > MAX_INDEXED) {
    const text = `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`;
    issues.push(invalid(path.child('parallelism'), parallelism, text));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > (completions ?? maxFailedIndexes)) {
    issues.push(invalid(path.child('maxFailedIndexes'), maxFailedIndexes, 'must be less than or equal to completions'));
  }
  return [...issues, ...validateSuccessPolicy(spec, path.child('successPolicy'))];
}

function validateReplacement({ podFailurePolicy, podReplacementPolicy }: JobSpec, path: FieldPath): Issue[] {
  if (podReplacementPolicy === undefined) return [];
  const allowed = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return allowed.includes(podReplacementPolicy) ? [] : [notSupported(path, podReplacementPolicy, allowed)];
}

function validateRestartPolicy({ podFailurePolicy, template }: JobSpec, path: FieldPath): Issue[] {
  const at = path.child('template', 'spec', 'restartPolicy');
  const policy = template.spec?.restartPolicy;
  if (policy === undefined || policy === '' || policy === 'Always') {
    return [required(at, 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(at, policy, ['OnFailure', 'Never'])];
  return podFailurePolicy !== undefined && policy !== 'Never'
    ? [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : [];
}

const FIXED = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export function validateJobUpdate(update: Job, old: Job, check: TemplateCheck): Issue[] {
  const issues = validateJob(update, check);
  const { spec } = update;
  if (spec === undefined) return issues;
  for (const name of FIXED) {
    if (!semanticEqual(spec[name], old.spec?.[name])) issues.push(invalid(SPEC.child(name), spec[name], IMMUTABLE));
  }
  if (spec.completions !== old.spec?.completions) {
    const path = SPEC.child('completions');
    if (spec.completionMode !== 'Indexed') issues.push(invalid(path, spec.completions, IMMUTABLE));
    else if (spec.completions !== undefined && spec.completions !== spec.parallelism) {
      issues.push(invalid(path, spec.completions, 'can only be modified in tandem with spec.parallelism'));
    }
  }
  issues.push(...validateSchedulingUpdate(update, old, SPEC.child('scheduling')));
  if (!semanticEqual(fixedTemplate(update, old), fixedTemplate(old, old))) {
    issues.push(invalid(SPEC.child('template'), spec.template, IMMUTABLE));
  }
  return issues;
}

/** The part of the template that may not change: all of it, but scheduling and resources while suspended and idle. */
function fixedTemplate({ spec }: Job, old: Job): unknown {
  const suspended = old.spec?.suspend === true && (old.status?.active ?? 0) === 0;
  const settled =
    !old.status?.startTime ||
    old.status.conditions?.some(({ status, type }) => type === 'Suspended' && status === 'True');
  if (!suspended || !settled) return spec?.template;
  const {
    affinity,
    containers = [],
    initContainers,
    nodeSelector: _n,
    schedulingGates: _g,
    tolerations: _t,
    ...rest
  } = spec?.template.spec ?? {};
  const { nodeAffinity: _nodeAffinity, ...otherAffinity } = affinity ?? {};
  const withoutResources = ({ resources: _resources, ...container }: (typeof containers)[number]) => container;
  return {
    ...rest,
    affinity: Object.keys(otherAffinity).length === 0 ? undefined : otherAffinity,
    containers: containers.map(withoutResources),
    initContainers: initContainers?.map(withoutResources),
  };
}
