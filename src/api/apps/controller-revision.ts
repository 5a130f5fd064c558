import { FieldPath, invalid, isObject, type Issue, required, semanticEqual } from '../../machinery/values/index.ts';
import type { ControllerRevision } from '../generated/apps-v1.ts';
import { nonNegative } from './replicas-validation.ts';

const DATA = FieldPath.of('data');

export function validateControllerRevision({ data, revision }: ControllerRevision): Issue[] {
  const issues = nonNegative(revision, FieldPath.of('revision'));
  if (data === undefined || data === null) issues.push(required(DATA, 'data is mandatory'));
  else if (!isObject(data)) issues.push(required(DATA, 'data must be a valid JSON object'));
  return issues;
}

export function validateControllerRevisionUpdate(update: ControllerRevision, old: ControllerRevision): Issue[] {
  const issues = nonNegative(update.revision, FieldPath.of('revision'));
  if (!semanticEqual(update.data, old.data)) issues.push(invalid(DATA, update.data, 'field is immutable'));
  return issues;
}
