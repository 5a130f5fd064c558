/** ConfigMap and Secret. */
import type { ConfigMap, Secret } from '../../../api/generated/core-v1.ts';
import { FieldPath, forbidden, invalid, type Issue, semanticEqual } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, since, text } from '../columns.ts';

const KEY = /^[-._a-zA-Z0-9]+$/;
const MAX_BYTES = 1024 * 1024;

function validateData(object: ApiObject, fields: readonly string[]): Issue[] {
  const issues: Issue[] = [];
  let size = 0;
  for (const field of fields) {
    for (const [key, value] of Object.entries((object[field] as Record<string, string> | undefined) ?? {})) {
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
      path: fields[0] ?? 'data',
      rule: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_BYTES} bytes`,
    });
  }
  return issues;
}

function validateImmutable(object: ApiObject, old: ApiObject, fields: readonly string[]): Issue[] {
  if (old['immutable'] !== true) return [];
  const refuse = (field: string) => forbidden(FieldPath.of(field), 'field is immutable when `immutable` is set');
  const issues = object['immutable'] === true ? [] : [refuse('immutable')];
  for (const field of fields) if (!semanticEqual(object[field] ?? {}, old[field] ?? {})) issues.push(refuse(field));
  return issues;
}

export const configMapStrategy: Strategy = {
  validate(object) {
    const issues = validateData(object, ['data', 'binaryData']);
    const binary = new Set(Object.keys((object as unknown as ConfigMap).binaryData ?? {}));
    for (const key of Object.keys((object as unknown as ConfigMap).data ?? {})) {
      if (binary.has(key))
        issues.push(invalid(FieldPath.of('data').key(key), key, 'duplicate of key present in binaryData'));
    }
    return issues;
  },
  validateUpdate: (object, old) => validateImmutable(object, old, ['data', 'binaryData']),
  table: {
    columns: [nameColumn, { name: 'Data', type: 'string', description: 'Number of keys' }, ageColumn],
    cells(object, now) {
      const { data, binaryData } = object as unknown as ConfigMap;
      const count = Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
      return [object.metadata.name ?? '', String(count), since(object.metadata.creationTimestamp, now)];
    },
  },
};

export const secretStrategy: Strategy = {
  defaults(object) {
    const secret = object as unknown as Secret;
    secret.type ||= 'Opaque';
    if (secret.stringData) {
      secret.data ??= {};
      for (const [key, value] of Object.entries(secret.stringData)) {
        secret.data[key] = Buffer.from(value, 'utf8').toString('base64');
      }
      delete secret.stringData;
    }
  },
  validate: (object) => validateData(object, ['data']),
  validateUpdate(object, old) {
    const issues = validateImmutable(object, old, ['data']);
    if (object['type'] !== old['type'])
      issues.push(invalid(FieldPath.of('type'), object['type'], 'field is immutable'));
    return issues;
  },
  fields: (object) => ({ type: (object as unknown as Secret).type ?? '' }),
  table: {
    columns: [nameColumn, text('Type', 0, 'What the secret is for'), text('Data', 0, 'Number of keys'), ageColumn],
    cells(object, now) {
      const { type, data } = object as unknown as Secret;
      const count = Object.keys(data ?? {}).length;
      return [object.metadata.name ?? '', type ?? '', String(count), since(object.metadata.creationTimestamp, now)];
    },
  },
};
