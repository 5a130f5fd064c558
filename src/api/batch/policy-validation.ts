import {
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
import { nonNegative } from '../apps/replicas-validation.ts';
import type { JobSpec, PodFailurePolicyRule } from '../generated/batch-v1.ts';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const MAX_RULES = 20;
const MAX_CODES = 255;

export function validateFailurePolicy(spec: JobSpec, path: FieldPath): Issue[] {
  if (spec.podFailurePolicy === undefined) return [];
  const rules = spec.podFailurePolicy.rules ?? [];
  const at = path.child('rules');
  const issues = rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : [];
  const template = spec.template?.spec;
  const names = [...(template?.containers ?? []), ...(template?.initContainers ?? [])].map(({ name }) => name);
  for (const [index, rule] of rules.entries()) {
    issues.push(...validateRule(rule, at.index(index), { names, perIndex: spec.backoffLimitPerIndex !== undefined }));
  }
  return issues;
}

function validateRule(
  { action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  path: FieldPath,
  { names, perIndex }: { names: readonly string[]; perIndex: boolean },
): Issue[] {
  const issues: Issue[] = [];
  const at = path.child('action');
  if (!action) issues.push(required(at, `valid values: [${ACTIONS.map((name) => `"${name}"`).join(' ')}]`));
  else if (!ACTIONS.includes(action)) issues.push(notSupported(at, action, ACTIONS));
  else if (action === 'FailIndex' && !perIndex) {
    issues.push(invalid(at, action, 'requires the backoffLimitPerIndex to be set'));
  }
  if (onExitCodes !== undefined) {
    const codes = path.child('onExitCodes');
    const { containerName, operator } = onExitCodes;
    const values = onExitCodes.values ?? [];
    if (!operator) issues.push(required(codes.child('operator'), 'valid values: ["In" "NotIn"]'));
    else if (operator !== 'In' && operator !== 'NotIn') {
      issues.push(notSupported(codes.child('operator'), operator, ['In', 'NotIn']));
    }
    if (containerName !== undefined && !names.includes(containerName)) {
      const text = 'must be one of the container or initContainer names in the pod template';
      issues.push(invalid(codes.child('containerName'), containerName, text));
    }
    const list = codes.child('values');
    if (values.length === 0) issues.push(invalid(list, values, 'at least one value is required'));
    else if (values.length > MAX_CODES) issues.push(tooMany(list, values.length, MAX_CODES));
    for (const [index, value] of values.entries()) {
      if (values.indexOf(value) < index) issues.push(duplicate(list.index(index), value));
      if (operator === 'In' && value === 0) {
        issues.push(invalid(list.index(index), value, 'must not be 0 for the In operator'));
      }
      if (index > 0 && value < (values[index - 1] ?? value)) {
        issues.push(invalid(list, values, 'must be ordered'));
        break;
      }
    }
  }
  for (const [index, { status, type }] of onPodConditions.entries()) {
    const pattern = path.child('onPodConditions').index(index);
    issues.push(...validateName(pattern.child('type'), type ?? '', checkQualifiedName));
    if (status && !['False', 'True', 'Unknown'].includes(status)) {
      issues.push(notSupported(pattern.child('status'), status, ['False', 'True', 'Unknown']));
    }
  }
  if (onExitCodes !== undefined && onPodConditions.length > 0) {
    issues.push(invalid(path, '', 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (onExitCodes === undefined && onPodConditions.length === 0) {
    issues.push(invalid(path, '', 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return issues;
}

export function validateSuccessPolicy({ completions = 0, successPolicy }: JobSpec, path: FieldPath): Issue[] {
  if (successPolicy === undefined) return [];
  const rules = successPolicy.rules ?? [];
  const at = path.child('rules');
  if (rules.length === 0)
    return [required(at, 'at least one rules must be specified when the successPolicy is specified')];
  const issues = rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : [];
  for (const [index, { succeededCount, succeededIndexes }] of rules.entries()) {
    const rule = at.index(index);
    if (succeededCount === undefined && succeededIndexes === undefined) {
      issues.push(required(rule, 'at least one of succeededCount or succeededIndexes must be specified'));
    }
    let total = completions;
    if (succeededIndexes !== undefined) {
      const count = countIndexes(succeededIndexes, completions);
      if (count === undefined) {
        issues.push(invalid(rule.child('succeededIndexes'), succeededIndexes, 'error parsing succeededIndexes'));
      } else total = count;
    }
    issues.push(...nonNegative(succeededCount, rule.child('succeededCount')));
    if (succeededCount !== undefined && succeededCount > total) {
      const text = `must be less than or equal to ${total} (the number of ${succeededIndexes === undefined ? 'specified completions' : 'indexes in the specified succeededIndexes field'})`;
      issues.push(invalid(rule.child('succeededCount'), succeededCount, text));
    }
  }
  return issues;
}

/** How many indexes `0,2-4` names; undefined when it is malformed, not in order, or goes beyond the completions. */
function countIndexes(text: string, completions: number): number | undefined {
  let total = 0;
  let previous = -1;
  for (const part of text === '' ? [] : text.split(',')) {
    const found = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (found === null) return undefined;
    const first = Number(found[1]);
    const last = found[2] === undefined ? first : Number(found[2]);
    if (first <= previous || last < first || last >= completions) return undefined;
    total += last - first + 1;
    previous = last;
  }
  return total;
}
