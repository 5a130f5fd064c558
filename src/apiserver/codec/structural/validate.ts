import { deepEqual, type Issue, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { PatternWorkExceeded, withinPatternWork } from './pattern.ts';
import { checkNumber, checkString } from './value-rules.ts';
import { invalidAt, issueAt, joinPath, typeInvalidAt, tooManyAt } from './value-issues.ts';
import {
  additionalOf,
  EMBEDDED,
  INT_OR_STRING,
  isMetaField,
  itemsOf,
  propertyOf,
  type StructuralSchema,
} from './schema.ts';

/** Every rule of the schema a custom resource breaks. Takes objects that are pruned and defaulted. */
export function validateCustom(object: JsonObject, schema: StructuralSchema | undefined): Issue[] {
  const issues: Issue[] = [];
  if (schema === undefined) return issues;
  try {
    withinPatternWork(() => check(object, schema, '', true, issues));
  } catch (error) {
    if (!(error instanceof PatternWorkExceeded)) throw error;
    const why = `Too long: to match the texts of this object with their patterns takes more than ${LIMITS.patternWork} steps (characters times steps of the pattern)`;
    issues.push(issueAt(error.path, 'FieldValueTooLong', why));
  }
  return issues;
}

function check(value: unknown, schema: StructuralSchema, path: string, isRoot: boolean, issues: Issue[]): void {
  if (value === null && schema.nullable === true) return;
  if (!checkType(value, schema, path, issues)) return;
  if (schema.enum !== undefined && !schema.enum.some((allowed) => deepEqual(allowed, value))) {
    const allowed = schema.enum.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
    const list = allowed.map((item) => JSON.stringify(item)).join(', ');
    issues.push(
      issueAt(path, 'FieldValueNotSupported', `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`),
    );
  }
  if (typeof value === 'string') checkString(value, schema, path, issues);
  else if (typeof value === 'number') checkNumber(value, schema, path, issues);
  else if (Array.isArray(value)) checkList(value, schema, path, issues);
  else if (isObject(value)) checkObject(value, schema, path, isRoot || schema[EMBEDDED] === true, issues);
  checkCombinations(value, schema, path, isRoot, issues);
}

const typeOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

function checkType(value: unknown, schema: StructuralSchema, path: string, issues: Issue[]): boolean {
  const actual = typeOf(value);
  if (schema[INT_OR_STRING] === true) {
    if (actual === 'integer' || actual === 'string') return true;
    issues.push(typeInvalidAt(path, actual, `must be of type integer,string: ${JSON.stringify(actual)}`));
    return false;
  }
  const { type } = schema;
  if (type === undefined || type === '' || type === actual || (type === 'number' && actual === 'integer')) return true;
  issues.push(typeInvalidAt(path, actual, `must be of type ${type}: ${JSON.stringify(actual)}`));
  return false;
}

function checkList(list: readonly unknown[], schema: StructuralSchema, path: string, issues: Issue[]): void {
  if (schema.minItems !== undefined && list.length < schema.minItems) {
    issues.push(invalidAt(path, list.length, `should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && list.length > schema.maxItems) {
    issues.push(tooManyAt(path, list.length, schema.maxItems));
  }
  const items = itemsOf(schema);
  if (items !== undefined) list.forEach((item, index) => check(item, items, `${path}[${index}]`, false, issues));
}

function checkObject(
  object: JsonObject,
  schema: StructuralSchema,
  path: string,
  isResource: boolean,
  issues: Issue[],
): void {
  const count = Object.keys(object).length;
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    issues.push(invalidAt(path, count, `should have at least ${schema.minProperties} properties`));
  }
  if (schema.maxProperties !== undefined && count > schema.maxProperties) {
    issues.push(tooManyAt(path, count, schema.maxProperties));
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name))
      issues.push(issueAt(joinPath(path, name), 'FieldValueRequired', 'Required value'));
  }
  const additional = additionalOf(schema);
  for (const name of Object.keys(object)) {
    const property = propertyOf(schema, name);
    if (isResource && isMetaField(name) && (property === undefined || name === 'metadata')) {
      if (property !== undefined)
        check(object[name], { ...property, type: undefined }, joinPath(path, name), false, issues);
      continue;
    }
    const member = property ?? additional;
    if (member !== undefined && member !== true) check(object[name], member, joinPath(path, name), false, issues);
  }
}

/**
 * What allOf, anyOf, oneOf and not make of a value. Like the real server they complain about no field in particular;
 * anyOf and oneOf add the issues of the part that came closest.
 */
function checkCombinations(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  isRoot: boolean,
  issues: Issue[],
): void {
  const issuesOf = (part: StructuralSchema): Issue[] => {
    const found: Issue[] = [];
    check(value, part, path, isRoot, found);
    return found;
  };
  const fail = (text: string, more: readonly Issue[] = []): void => {
    issues.push(invalidAt('', '', `${JSON.stringify(path)} ${text}`, false), ...more);
  };
  const { allOf = [], anyOf = [], oneOf = [] } = schema;
  if (allOf.length > 0) {
    const found = allOf.map(issuesOf);
    const failed = found.filter(({ length }) => length > 0).length;
    if (failed > 0) {
      fail(`must validate all the schemas (allOf)${failed === allOf.length ? '. None validated' : ''}`, found.flat());
    }
  }
  if (anyOf.length > 0) {
    const found = anyOf.map(issuesOf);
    if (found.every(({ length }) => length > 0)) fail('must validate at least one schema (anyOf)', closest(found));
  }
  if (oneOf.length > 0) {
    const found = oneOf.map(issuesOf);
    const valid = found.filter(({ length }) => length === 0).length;
    const text = 'must validate one and only one schema (oneOf)';
    if (valid === 0) fail(`${text}. Found none valid`, closest(found));
    else if (valid > 1) fail(`${text}. Found ${valid} valid alternatives`);
  }
  if (schema.not !== undefined && issuesOf(schema.not).length === 0) fail('must not validate the schema (not)');
}

function closest(found: readonly (readonly Issue[])[]): readonly Issue[] {
  return found.reduce((best, issues) => (issues.length < best.length ? issues : best), found[0] ?? []);
}
