import { FieldPath, type Issue, type JsonObject } from '../../../machinery/values/index.ts';
import type { CustomSchema, SchemaLibrary } from './custom-schema.ts';
import { checkStructural } from './check.ts';
import { defaultCustom } from './defaults.ts';
import { validateListTypes } from './list-types.ts';
import { pruneCustom } from './prune.ts';
import type { StructuralSchema } from './schema.ts';
import { validateCustom } from './validate.ts';

/** The structural schemas of custom resource definitions, as the server uses them. */
export const structuralSchemas: SchemaLibrary = {
  compile: (schema) => compile(schema),
  check: (schema, path) => checkStructural(schema, FieldPath.of(path)),
};

function compile(schema: StructuralSchema | undefined): CustomSchema {
  const issuesOf = (object: JsonObject): Issue[] => [
    ...validateCustom(object, schema),
    ...validateListTypes(object, schema),
  ];
  return {
    prune: (object) => pruneCustom(object, schema).map((path) => `unknown field ${JSON.stringify(path)}`),
    applyDefaults: (object) => defaultCustom(object, schema),
    validate: (object, old) => {
      const issues = issuesOf(object);
      return old === undefined || issues.length === 0 ? issues : withoutKnown(issues, issuesOf(old));
    },
  };
}

/** An update is not blamed for what was wrong before in the same way. */
function withoutKnown(issues: readonly Issue[], known: readonly Issue[]): Issue[] {
  const before = new Set(known.map(({ path, message }) => `${path}\0${message}`));
  return issues.filter(({ path, message }) => !before.has(`${path}\0${message}`));
}
