export { type Auth, type AuthOptions, createAuth } from './auth.ts';
export { forbiddenAccess } from '../forbidden-access.ts';
export * from './kubeconfig.ts';
export { openPki, type Pki, type PkiOptions } from './pki.ts';
export { bootstrapRoles } from './rbac/bootstrap.ts';
export * from './rbac/strategy.ts';
