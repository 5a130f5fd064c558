export type { DaemonSet, DaemonSetStatus } from '../../../api/generated/apps-v1.ts';
export type { Affinity, Node, Pod, Toleration } from '../../../api/generated/core-v1.ts';
