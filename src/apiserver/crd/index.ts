export { CustomResources, cleanupBeforeDeletion } from './custom-resources.ts';
export { compileJsonPath } from './json-path.ts';
export { customRow } from './row.ts';
export { type CustomSchema, openSchemas, type SchemaLibrary } from './schema-seam.ts';
export { definitionStrategy } from './strategy.ts';
