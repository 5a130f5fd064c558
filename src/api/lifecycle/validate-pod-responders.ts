import { type FieldPath, invalid, type Issue, required, tooMany } from '../../machinery/values/index.ts';
import type { EvictionResponder } from '../generated/core-v1.ts';
import { duplicateNames } from './duplicates.ts';
import { validateForeignKey } from './keys.ts';
import { LEAST_FREE_PRIORITY, MAX_POD_RESPONDERS, MAX_PRIORITY } from './types.ts';

/** What is wrong with `spec.evictionResponders` of a pod. */
export function validatePodResponders(path: FieldPath, responders: readonly EvictionResponder[] | undefined): Issue[] {
  const list = responders ?? [];
  if (list.length > MAX_POD_RESPONDERS) return [tooMany(path, list.length, MAX_POD_RESPONDERS)];
  const issues = duplicateNames(path, list);
  for (const [at, { name, priority }] of list.entries()) {
    const here = path.index(at);
    issues.push(...validateForeignKey(here.child('name'), name));
    issues.push(...validatePriority(here.child('priority'), priority));
  }
  return issues;
}

function validatePriority(path: FieldPath, priority: number | undefined): Issue[] {
  if (priority === undefined || priority === null) return [required(path)];
  if (priority < 0) return [invalid(path, priority, 'must be greater than or equal to 0')];
  if (priority > MAX_PRIORITY) return [invalid(path, priority, `must be less than or equal to ${MAX_PRIORITY}`)];
  if (priority >= LEAST_FREE_PRIORITY) return [];
  return [invalid(path, priority, 'priorities 0-999 are reserved for responders with *.k8s.io suffix')];
}
