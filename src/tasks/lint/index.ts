/** Lints manifests or a cluster with the rules of src/decisions/lint. */
export { gatherClusterObjects } from './gather.ts';
export { lintCluster, lintManifests } from './lint.ts';
