/** Who asks and may they: certificates, tokens, RBAC, access reviews, signing requests. Sees verbs, not kinds. */
export { createAuth } from './auth.ts';
export { legacyTokenIssuer, type TokenUse } from './legacy-tokens.ts';
export * from './kubeconfig.ts';
export { FRONT_PROXY, openPki, type Pki } from './pki.ts';
export { bootstrapRoles } from './rbac/bootstrap.ts';
export * from './rbac/strategy.ts';
