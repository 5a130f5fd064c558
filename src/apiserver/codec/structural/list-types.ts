import { type Issue, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { additionalOf, itemsOf, LIST_KEYS, LIST_TYPE, propertyOf, type StructuralSchema } from './schema.ts';
import { issueAt, joinPath } from './value-issues.ts';

/** Items of `set` lists and keys of `map` lists must not repeat. */
export function validateListTypes(object: JsonObject, schema: StructuralSchema | undefined): Issue[] {
  const issues: Issue[] = [];
  visit(object, schema, '', issues);
  return issues;
}

function visit(value: unknown, schema: StructuralSchema | undefined, path: string, issues: Issue[]): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    if (schema[LIST_TYPE] === 'set') checkUnique(value, (item) => item, path, issues);
    else if (schema[LIST_TYPE] === 'map') {
      const keys = schema[LIST_KEYS] ?? [];
      checkUnique(value, (item) => (isObject(item) ? pick(item, keys) : item), path, issues);
    }
    const items = itemsOf(schema);
    value.forEach((item, index) => visit(item, items, `${path}[${index}]`, issues));
  } else if (isObject(value)) {
    const additional = additionalOf(schema);
    for (const name of Object.keys(value)) {
      const member = propertyOf(schema, name) ?? (additional === true ? undefined : additional);
      visit(value[name], member, joinPath(path, name), issues);
    }
  }
}

function pick(item: JsonObject, keys: readonly string[]): JsonObject {
  const key: JsonObject = {};
  for (const name of keys) if (Object.hasOwn(item, name)) key[name] = item[name];
  return key;
}

function checkUnique(list: readonly unknown[], keyOf: (item: unknown) => unknown, path: string, issues: Issue[]): void {
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const key = JSON.stringify(sorted(keyOf(item)));
    if (seen.has(key)) issues.push(issueAt(`${path}[${index}]`, 'FieldValueDuplicate', `Duplicate value: ${key}`));
    seen.add(key);
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
