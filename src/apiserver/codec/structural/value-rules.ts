import type { Issue } from '../../../machinery/values/index.ts';
import { hasFormat } from './formats.ts';
import { matchesPattern } from './pattern.ts';
import type { StructuralSchema } from './schema.ts';
import { invalidAt, issueAt, typeInvalidAt } from './value-issues.ts';

/** Of length and pattern only the first broken rule counts, in this order; the format counts besides. */
export function checkString(value: string, schema: StructuralSchema, path: string, issues: Issue[]): void {
  const length = codePoints(value);
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    issues.push(issueAt(path, 'FieldValueTooLong', `Too long: may not be more than ${schema.maxLength} bytes`));
  } else if (schema.minLength !== undefined && length < schema.minLength) {
    issues.push(invalidAt(path, value, `should be at least ${schema.minLength} chars long`));
  } else if (schema.pattern !== undefined && schema.pattern !== '' && !matchesPattern(value, schema.pattern, path)) {
    issues.push(invalidAt(path, value, `should match '${schema.pattern}'`));
  }
  if (schema.format !== undefined && !hasFormat(value, schema.format)) {
    issues.push(typeInvalidAt(path, value, `must be of type ${schema.format}: ${JSON.stringify(value)}`));
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const INTEGER_FORMATS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64 - 1],
};

export function checkNumber(value: number, schema: StructuralSchema, path: string, issues: Issue[]): void {
  const fail = (text: string): void => void issues.push(invalidAt(path, value, text));
  const { minimum, maximum, multipleOf } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    fail(`should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    fail(`should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  }
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    fail(`should be a multiple of ${multipleOf}`);
  }
  const range = schema.format === undefined ? undefined : INTEGER_FORMATS[schema.format];
  if (range !== undefined && (value < range[0] || value > range[1])) {
    issues.push(typeInvalidAt(path, value, `must be of type ${schema.format ?? ''}: ${JSON.stringify(value)}`));
  }
}

function isMultiple(value: number, of: number): boolean {
  const ratio = value / of;
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio));
}
