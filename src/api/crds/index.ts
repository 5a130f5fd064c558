export { groupDefinitions } from './groups.ts';
export { OWN_KINDS, type OptionalFeature, type OwnKind, type Rights } from './own-kinds.ts';
