/**
 * What a person asks for once: drain, evict, plan, simulate, snapshot, lint, migrate, why, doctor, demo. A task reads a cluster
 * through the Kubernetes API, asks src/decisions, and acts through the API. One folder each; which may use which stands
 * in .dependency-cruiser.cjs. Only simulate, demo and doctor know a host (src/app).
 */
export * from '../cluster-state/index.ts';
export * from './demo/index.ts';
export * from './doctor/index.ts';
export * from './drain/index.ts';
export * from './lint/index.ts';
export * from './migrate/index.ts';
export * from './plan/index.ts';
export * from './simulate/index.ts';
export * from './snapshot/index.ts';
export * from './why/index.ts';
