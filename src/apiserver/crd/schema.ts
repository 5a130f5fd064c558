/** The whole schema of a custom resource: its structure, and the rules in CEL on top. */
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import type { FieldPath, Issue } from '../../machinery/values/index.ts';
import { structuralSchemas } from '../codec/structural/index.ts';
import { checkRules, compileRules } from './rules.ts';
import type { CustomSchema } from './schema-seam.ts';

export interface CompiledSchema extends CustomSchema {
  /** Rules about what an update changes. */
  validateChange(object: Record<string, unknown>, old: Record<string, unknown>): Issue[];
}

export function compileSchema(schema: JSONSchemaProps | undefined): CompiledSchema {
  const structure = structuralSchemas.compile(schema);
  const rules = compileRules(schema);
  return {
    ...structure,
    validate(object, old) {
      const issues = structure.validate(object, old);
      // Rules may assume that the object has the shape of its schema.
      return issues.length > 0 ? issues : rules(object, undefined);
    },
    validateChange: (object, old) => (structure.validate(object, undefined).length > 0 ? [] : rules(object, old)),
  };
}

/** Issues of the schema itself. */
export function checkSchema(schema: JSONSchemaProps, path: FieldPath): Issue[] {
  return [...structuralSchemas.check(schema, path.toString()), ...checkRules(schema, path)];
}
