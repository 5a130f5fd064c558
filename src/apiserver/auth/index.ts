export * from './kubeconfig.ts';
export { openPki, type Pki, type PkiOptions } from './pki.ts';
