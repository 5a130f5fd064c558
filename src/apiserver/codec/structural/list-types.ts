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
    if (schema[LIST_TYPE] === 'set') checkUnique(value, textOf, path, issues);
    else if (schema[LIST_TYPE] === 'map') {
      const keys = [...(schema[LIST_KEYS] ?? [])].sort();
      checkUnique(value, (item) => (isObject(item) ? keyText(item, keys) : textOf(item)), path, issues);
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

/** The keys that an item has, as JSON; put together here, as lists can be long and an object for each is dear. */
function keyText(item: JsonObject, keys: readonly string[]): string {
  let text = '';
  for (const name of keys) {
    if (Object.hasOwn(item, name)) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${textOf(item[name])}`;
  }
  return `{${text}}`;
}

/** The same text for the same value, whatever the order of its fields. */
const textOf = (value: unknown): string =>
  JSON.stringify(typeof value === 'object' && value !== null ? sorted(value) : value);

function checkUnique(list: readonly unknown[], keyOf: (item: unknown) => string, path: string, issues: Issue[]): void {
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const key = keyOf(item);
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
