/** The whole schema of a custom resource: its structure, and the rules in CEL on top. */
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import type { FieldPath, Issue } from '../../machinery/values/index.ts';
import { structuralSchemas } from '../codec/structural/index.ts';
import { withoutUnchanged } from './ratchet.ts';
import { checkRules } from './rule-check.ts';
import { compileRules } from './rules.ts';
import type { CustomSchema } from '../codec/structural/custom-schema.ts';

export function compileSchema(schema: JSONSchemaProps | undefined): CustomSchema {
  const structure = structuralSchemas.compile(schema);
  const rules = compileRules(schema);
  return {
    ...structure,
    validate(object, old) {
      const found = structure.validate(object, undefined);
      const issues = old === undefined ? found : withoutUnchanged(found, { object, old, schema });
      // Rules may assume that the object has the shape of its schema.
      return issues.length > 0 ? issues : rules(object, old);
    },
  };
}

/** Issues of the schema itself. What its rules cost is not asked of one that `isStored` already. */
export function checkSchema(schema: JSONSchemaProps, path: FieldPath, isStored = false): Issue[] {
  return [...structuralSchemas.check(schema, path.toString()), ...checkRules(schema, path, isStored)];
}
