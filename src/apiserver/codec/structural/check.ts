import { deepEqual, FieldPath, forbidden, type Issue, invalid, required } from '../../../machinery/values/index.ts';
import { compilePattern } from './pattern.ts';
import {
  additionalOf,
  EMBEDDED,
  INT_OR_STRING,
  itemsOf,
  LIST_KEYS,
  LIST_TYPE,
  MAP_TYPE,
  PRESERVE,
  type StructuralSchema,
} from './schema.ts';

type Level = 'root' | 'item' | 'field';

const UNTYPED: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** Why a schema is not structural: every node typed, metadata left alone, combinations only add value rules. */
export function checkStructural(schema: StructuralSchema, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  checkNode(schema, 'root', path, issues);
  return issues.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function checkNode(schema: StructuralSchema, level: Level, path: FieldPath, issues: Issue[]): void {
  const { type, properties = {} } = schema;
  const items = itemsOf(schema);
  if (type === 'array' && items === undefined) issues.push(required(path.child('items'), 'must be specified'));
  if (items !== undefined) checkNode(items, 'item', path.child('items'), issues);
  for (const [name, property] of Object.entries(properties)) {
    const at = path.child('properties').key(name);
    if (level === 'root' && name === 'metadata') checkRootMetadata(property, at, issues);
    else checkNode(property, 'field', at, issues);
  }
  const additional = additionalOf(schema);
  if (additional !== undefined) {
    const at = path.child('additionalProperties');
    if (level === 'root') issues.push(forbidden(at, 'must not be used at the root'));
    if (Object.keys(properties).length > 0) {
      issues.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (additional !== true) checkNode(additional, 'field', at, issues);
  }
  checkTypeAt(schema, level, path, issues);
  checkExtensions(schema, path, issues);
  checkForbidden(schema, path, issues);
  checkValueRules(schema, path, issues, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf));
}

function checkTypeAt(schema: StructuralSchema, level: Level, path: FieldPath, issues: Issue[]): void {
  const { type } = schema;
  const at = path.child('type');
  const embedded = schema[EMBEDDED] === true;
  if (embedded && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    issues.push(type === undefined || type === '' ? required(at, text) : invalid(at, type, text));
  } else if ((type === undefined || type === '') && schema[INT_OR_STRING] !== true && schema[PRESERVE] !== true) {
    issues.push(required(at, UNTYPED[level]));
  }
  if (level === 'root' && type !== undefined && type !== '' && type !== 'object') {
    issues.push(invalid(at, type, 'must be object at the root'));
  }
  for (const name of ['kind', 'apiVersion']) {
    const property = schema.properties?.[name];
    if ((level === 'root' || embedded) && property !== undefined && property.type !== 'string') {
      issues.push(invalid(path.child('properties').key(name).child('type'), property.type ?? '', 'must be string'));
    }
  }
  if (embedded && schema[PRESERVE] !== true && Object.keys(schema.properties ?? {}).length === 0) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    issues.push(required(path.child('properties'), text));
  }
}

/** At the root metadata may only restrict name and generateName. */
function checkRootMetadata(metadata: StructuralSchema, path: FieldPath, issues: Issue[]): void {
  if (metadata.type !== 'object') issues.push(invalid(path.child('type'), metadata.type ?? '', 'must be object'));
  const { type: _, properties = {}, description: __, ...rest } = metadata;
  const named = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  if (!named || Object.keys(rest).length > 0) {
    const text = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    issues.push(forbidden(path, text));
  }
  for (const [name, property] of Object.entries(properties)) {
    checkNode(property, 'field', path.child('properties').key(name), issues);
  }
}

function checkExtensions(schema: StructuralSchema, path: FieldPath, issues: Issue[]): void {
  if (schema[INT_OR_STRING] === true) {
    const text = 'must be false if x-kubernetes-int-or-string is true';
    for (const name of [PRESERVE, EMBEDDED] as const) {
      if (schema[name] === true) issues.push(invalid(path.child(name), true, text));
    }
  }
  const listType = schema[LIST_TYPE];
  if (listType !== undefined && schema.type !== 'array') {
    issues.push(invalid(path.child('type'), schema.type ?? '', 'must be array if x-kubernetes-list-type is specified'));
  }
  if (listType === 'map' && (schema[LIST_KEYS] ?? []).length === 0) {
    issues.push(required(path.child(LIST_KEYS), 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (listType !== 'map' && (schema[LIST_KEYS] ?? []).length > 0) {
    issues.push(
      invalid(path.child(LIST_TYPE), listType ?? '', 'must be map if x-kubernetes-list-map-keys is non-empty'),
    );
  }
  const mapType = schema[MAP_TYPE];
  if (mapType !== undefined && schema.type !== 'object') {
    issues.push(invalid(path.child('type'), schema.type ?? '', 'must be object if x-kubernetes-map-type is specified'));
  }
}

/** Parts of JSON Schema a custom resource may not use at all. */
function checkForbidden(schema: StructuralSchema, path: FieldPath, issues: Issue[]): void {
  if (schema.$ref !== undefined && schema.$ref !== '') {
    issues.push(forbidden(path.child('$ref'), '$ref is not supported'));
  }
  if (schema.uniqueItems === true) {
    issues.push(
      forbidden(
        path.child('uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  if (schema.additionalProperties === false) {
    issues.push(forbidden(path.child('additionalProperties'), 'additionalProperties cannot be set to false'));
  }
  if (Array.isArray(schema.items)) {
    issues.push(forbidden(path.child('items'), 'items must be a schema object and not an array'));
  }
  for (const name of ['definitions', 'dependencies', 'patternProperties', 'additionalItems', 'id'] as const) {
    if (schema[name] !== undefined) issues.push(forbidden(path.child(name), `${name} is not supported`));
  }
}

const INT_OR_STRING_PARTS = [{ type: 'integer' }, { type: 'string' }];
const isIntOrString = (parts: readonly StructuralSchema[] | undefined): boolean =>
  deepEqual(parts, INT_OR_STRING_PARTS);

function checkValueRules(
  schema: StructuralSchema,
  path: FieldPath,
  issues: Issue[],
  skipAnyOf = false,
  skipFirstAllOf = false,
): void {
  if (!skipAnyOf) schema.anyOf?.forEach((part, i) => checkNested(part, path.child('anyOf').index(i), issues));
  schema.allOf?.forEach((part, i) =>
    checkNested(part, path.child('allOf').index(i), issues, skipFirstAllOf && i === 0),
  );
  schema.oneOf?.forEach((part, i) => checkNested(part, path.child('oneOf').index(i), issues));
  if (schema.not !== undefined) checkNested(schema.not, path.child('not'), issues);
  if (schema.pattern !== undefined && schema.pattern !== '' && compilePattern(schema.pattern) === undefined) {
    issues.push(invalid(path.child('pattern'), schema.pattern, "must be a valid regular expression, but isn't"));
  }
}

/** Inside allOf, anyOf, oneOf and not only rules about values are allowed, nothing that shapes the object. */
function checkNested(part: StructuralSchema, path: FieldPath, issues: Issue[], skipAnyOf = false): void {
  checkValueRules(part, path, issues, skipAnyOf);
  const items = itemsOf(part);
  if (items !== undefined) checkNested(items, path.child('items'), issues);
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    checkNested(property, path.child('properties').key(name), issues);
  }
  for (const name of ['type', 'title', 'description'] as const) {
    if (part[name] !== undefined && part[name] !== '') {
      issues.push(forbidden(path.child(name), 'must be empty to be structural'));
    }
  }
  for (const name of ['additionalProperties', 'default'] as const) {
    if (part[name] !== undefined) issues.push(forbidden(path.child(name), 'must be undefined to be structural'));
  }
  for (const name of ['nullable', PRESERVE, EMBEDDED, INT_OR_STRING] as const) {
    if (part[name] === true) issues.push(forbidden(path.child(name), 'must be false to be structural'));
  }
}
