import type { ScalarName } from '../../api/schema/index.ts';
import type { JsonObject } from '../../machinery/values/index.ts';
import type { Dialect } from './dialect.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Scalars that have a definition of their own, by its name. */
export const SPECIAL_NAMES: Partial<Record<ScalarName, string>> = {
  time: `${META}.Time`,
  microtime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
  fieldsV1: `${META}.FieldsV1`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  json: `${EXTENSIONS}.JSON`,
  schemaOrBool: `${EXTENSIONS}.JSONSchemaPropsOrBool`,
  schemaOrArray: `${EXTENSIONS}.JSONSchemaPropsOrArray`,
  schemaOrStringArray: `${EXTENSIONS}.JSONSchemaPropsOrStringArray`,
};

export function specialDefinition(scalar: ScalarName, dialect: Dialect): JsonObject {
  switch (scalar) {
    case 'time':
      return { description: 'A moment in RFC 3339, in whole seconds.', type: 'string', format: 'date-time' };
    case 'microtime':
      return { description: 'A moment in RFC 3339, in microseconds.', type: 'string', format: 'date-time' };
    case 'duration':
      return { description: 'A length of time such as "1m30s".', type: 'string' };
    case 'quantity': {
      const description = 'An amount such as "100m" or "1.5Gi": a number with a decimal or binary suffix.';
      return dialect === 'v2'
        ? { description, type: 'string' }
        : { description, oneOf: [{ type: 'string' }, { type: 'number' }] };
    }
    case 'intOrString': {
      const description = 'A whole number or a text, often a percentage.';
      return dialect === 'v2'
        ? { description, type: 'string', format: 'int-or-string' }
        : { description, format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    }
    case 'fieldsV1':
      return { description: 'A set of fields as a trie of path elements.', type: 'object' };
    case 'rawExtension':
      return { description: 'Any object.', type: 'object' };
    default:
      return { description: 'Any value.' };
  }
}

/** Scalars that are written where they are used. */
export const SIMPLE_SCHEMAS: Partial<Record<ScalarName, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};
