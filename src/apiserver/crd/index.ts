export { CustomResources, cleanupBeforeDeletion } from './custom-resources.ts';
export { compileJsonPath } from './json-path.ts';
export { customRow } from './row.ts';
export { definitionStrategy } from './strategy.ts';
