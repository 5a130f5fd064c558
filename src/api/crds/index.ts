export { OWN_CATEGORY, requestDefinitions } from './eviction-request.ts';
export { groupDefinitions } from './groups.ts';
export { FEATURE_NAMES, OPTIONAL_FEATURES, type OptionalFeature } from './features.ts';
export { OWN_KINDS, type OwnKind, REPLACES_BUILT_IN, type Rights } from './own-kinds.ts';
