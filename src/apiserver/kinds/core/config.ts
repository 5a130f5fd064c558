/** ConfigMap and Secret. */
import type { ConfigMap, Secret } from '../../../api/generated/core-v1.ts';
import { FieldPath, forbidden, invalid, type Issue, required, semanticEqual } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const KEY = /^[-._a-zA-Z0-9]+$/;
const MAX_BYTES = 1024 * 1024;
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

function validateData(data: Readonly<Record<string, Record<string, string> | undefined>>): Issue[] {
  const issues: Issue[] = [];
  let size = 0;
  for (const [field, values] of Object.entries(data)) {
    for (const [key, value] of Object.entries(values ?? {})) {
      const path = FieldPath.of(field).key(key);
      size += value?.length ?? 0;
      if (key.length > 253) issues.push(invalid(path, key, 'must be no more than 253 characters'));
      if (!KEY.test(key)) {
        issues.push(
          invalid(
            path,
            key,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
          ),
        );
      } else if (key === '.' || key === '..' || key.startsWith('..')) {
        issues.push(invalid(path, key, `must not start with '..'`));
      }
    }
  }
  if (size > MAX_BYTES) {
    issues.push({
      path: 'data',
      rule: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_BYTES} bytes`,
    });
  }
  return issues;
}

function validateImmutable<T extends ConfigMap | Secret>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): Issue[] {
  if (old.immutable !== true) return [];
  const refuse = (field: string) => forbidden(FieldPath.of(field), 'field is immutable when `immutable` is set');
  const issues = object.immutable === true ? [] : [refuse('immutable')];
  for (const field of fields) if (!semanticEqual(object[field] ?? {}, old[field] ?? {})) issues.push(refuse(field));
  return issues;
}

const countKeys = (...parts: (object | undefined)[]): string =>
  String(parts.reduce((count, part) => count + Object.keys(part ?? {}).length, 0));

export const configMapStrategy = strategyOf<ConfigMap>({
  validate(object) {
    const { data, binaryData } = object;
    const issues = validateData({ data, binaryData });
    const binary = new Set(Object.keys(binaryData ?? {}));
    for (const key of Object.keys(data ?? {})) {
      if (binary.has(key))
        issues.push(invalid(FieldPath.of('data').key(key), key, 'duplicate of key present in binaryData'));
    }
    return issues;
  },
  validateUpdate: (object, old) => validateImmutable(object, old, ['data', 'binaryData']),
  table: table([
    nameColumn,
    text('Data', 'Number of keys', (object) => countKeys(object.data, object.binaryData)),
    ageColumn,
  ]),
});

/** The rest of such a Secret is for a controller to fill in. */
function validateAccount(type: string | undefined, { annotations }: NonNullable<Secret['metadata']>): Issue[] {
  if (type !== 'kubernetes.io/service-account-token' || annotations?.[ACCOUNT_NAME]) return [];
  return [required(FieldPath.of('metadata', 'annotations').key(ACCOUNT_NAME))];
}

export const secretStrategy = strategyOf<Secret>({
  defaults(object) {
    object.type ||= 'Opaque';
    if (object.stringData) {
      object.data ??= {};
      for (const [key, value] of Object.entries(object.stringData)) {
        object.data[key] = Buffer.from(value, 'utf8').toString('base64');
      }
      delete object.stringData;
    }
  },
  validate: ({ data, metadata, type }) => [...validateData({ data }), ...validateAccount(type, metadata)],
  validateUpdate(object, old) {
    const issues = validateImmutable(object, old, ['data']);
    if (object.type !== old.type) issues.push(invalid(FieldPath.of('type'), object.type, 'field is immutable'));
    return issues;
  },
  fields: (object) => ({ type: object.type ?? '' }),
  table: table([
    nameColumn,
    text('Type', 'What the secret is for', ({ type }) => type ?? ''),
    text('Data', 'Number of keys', ({ data }) => countKeys(data)),
    ageColumn,
  ]),
});
