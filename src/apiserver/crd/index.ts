/** CustomResourceDefinitions: checking them, serving what they define, their validation rules in CEL. */
export { CustomResources, cleanupBeforeDeletion } from './custom-resources.ts';
