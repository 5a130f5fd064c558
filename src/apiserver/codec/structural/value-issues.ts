import type { Issue, IssueRule } from '../../../machinery/values/index.ts';

/** Issues of schema validation, whose paths are plain text from the start. */

export const joinPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

export function issueAt(path: string, rule: IssueRule, message: string): Issue {
  return { path: path === '' ? '<nil>' : path, rule, message };
}

/** Validators name the field again in the text: `spec.x in body should be …`. */
const inBody = (path: string, text: string): string => `${path} in body ${text}`;

export function invalidAt(path: string, value: unknown, text: string, named = true): Issue {
  const shown = value === undefined ? 'null' : JSON.stringify(value);
  return issueAt(path, 'FieldValueInvalid', `Invalid value: ${shown}: ${named ? inBody(path, text) : text}`);
}

export function typeInvalidAt(path: string, actual: unknown, text: string): Issue {
  return issueAt(path, 'FieldValueTypeInvalid', `Invalid value: ${JSON.stringify(actual)}: ${inBody(path, text)}`);
}

export function tooManyAt(path: string, actual: number, max: number): Issue {
  return issueAt(path, 'FieldValueTooMany', `Too many: ${actual}: must have at most ${max} items`);
}
