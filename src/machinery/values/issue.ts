import type { FieldPath } from './field-path.ts';

/** What is wrong with a field; the names are the `reason` of a Status cause. */
export type IssueRule =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** One violated rule at one field. Validation returns every issue it finds, never just the first. */
export interface Issue {
  readonly path: string;
  readonly rule: IssueRule;
  /** The message without the path, in Kubernetes' wording: `Invalid value: -1: must be ...`. */
  readonly message: string;
}

const issue = (path: FieldPath, rule: IssueRule, message: string): Issue => ({ path: path.toString(), rule, message });

const withDetail = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

export function required(path: FieldPath, detail = ''): Issue {
  return issue(path, 'FieldValueRequired', withDetail('Required value', detail));
}

export function invalid(path: FieldPath, value: unknown, detail: string): Issue {
  return issue(path, 'FieldValueInvalid', withDetail(`Invalid value: ${formatValue(value)}`, detail));
}

export function notSupported(path: FieldPath, value: unknown, supported: readonly string[]): Issue {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  const tail = supported.length > 0 ? `supported values: ${list}` : '';
  return issue(path, 'FieldValueNotSupported', withDetail(`Unsupported value: ${formatValue(value)}`, tail));
}

export function forbidden(path: FieldPath, detail: string): Issue {
  return issue(path, 'FieldValueForbidden', withDetail('Forbidden', detail));
}

export function duplicate(path: FieldPath, value: unknown): Issue {
  return issue(path, 'FieldValueDuplicate', `Duplicate value: ${formatValue(value)}`);
}

export function tooLong(path: FieldPath, max: number, unit: 'bytes' | 'characters' = 'bytes'): Issue {
  return issue(path, 'FieldValueTooLong', `Too long: may not be more than ${max} ${unit}`);
}

export function tooMany(path: FieldPath, actual: number, max: number): Issue {
  return issue(path, 'FieldValueTooMany', `Too many: ${actual}: must have at most ${max} items`);
}

/** `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
export function formatIssue({ path, message }: Issue): string {
  return `${path}: ${message}`;
}

/** Several issues in one message: bare for one, bracketed list for more, exact repeats dropped. */
export function formatIssues(issues: readonly Issue[]): string {
  const texts = [...new Set(issues.map(formatIssue))];
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}

function formatValue(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}
