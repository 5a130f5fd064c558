/** What a custom resource needs from its structural schema. */
import type { JSONSchemaProps } from '../../../api/generated/apiextensions-v1.ts';
import type { Issue } from '../../../machinery/values/index.ts';

export interface CustomSchema {
  /** Drops fields the schema does not name; returns them as `unknown field "spec.x"`. */
  prune(object: Record<string, unknown>): string[];
  /** Fills absent fields in place. */
  applyDefaults(object: Record<string, unknown>): void;
  /** `old` for an update: what was already wrong and did not change is not held against the new object. */
  validate(object: Record<string, unknown>, old: Record<string, unknown> | undefined): Issue[];
}

export interface SchemaLibrary {
  compile(schema: JSONSchemaProps | undefined): CustomSchema;
  /** Issues of the schema itself, with paths below `path`. */
  check(schema: JSONSchemaProps, path: string): Issue[];
}
