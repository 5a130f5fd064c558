/** The objects of the API, by group and version, and how to name them. */
export type * as admissionregistrationV1 from './generated/admissionregistration-v1.ts';
export type * as appsV1 from './generated/apps-v1.ts';
export type * as autoscalingV2 from './generated/autoscaling-v2.ts';
export type * as batchV1 from './generated/batch-v1.ts';
export type * as coordinationV1 from './generated/coordination-v1.ts';
export type * as coreV1 from './generated/core-v1.ts';
export type * as metaV1 from './generated/meta-v1.ts';
export type * as policyV1 from './generated/policy-v1.ts';
export type * as rbacV1 from './generated/rbac-v1.ts';
export type * as schedulingV1beta1 from './generated/scheduling-v1beta1.ts';
export * from './kruise/types.ts';
export * from './lws/types.ts';
export * from './quorate/group-eviction.ts';
export * from './quorate/types.ts';
export * from './resource.ts';
export * from './resource-types.ts';
