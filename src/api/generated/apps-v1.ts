// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { PersistentVolumeClaim, PodTemplateSpec, SecretKeySelector } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface ControllerRevision {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  data?: unknown;
  revision: number;
}

export interface ControllerRevisionList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ControllerRevision[];
}

export interface DaemonSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: DaemonSetSpec | undefined;
  status?: DaemonSetStatus | undefined;
}

export interface DaemonSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface DaemonSetList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: DaemonSet[];
}

export interface DaemonSetSpec {
  selector?: LabelSelector | undefined;
  template: PodTemplateSpec;
  updateStrategy?: DaemonSetUpdateStrategy | undefined;
  minReadySeconds?: number | undefined;
  revisionHistoryLimit?: number | undefined;
}

export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  observedGeneration?: number | undefined;
  updatedNumberScheduled?: number | undefined;
  numberAvailable?: number | undefined;
  numberUnavailable?: number | undefined;
  collisionCount?: number | undefined;
  conditions?: DaemonSetCondition[] | undefined;
}

export interface DaemonSetUpdateStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateDaemonSet | undefined;
}

export interface Deployment {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: DeploymentSpec | undefined;
  status?: DeploymentStatus | undefined;
}

export interface DeploymentCondition {
  type: string;
  status: string;
  lastUpdateTime?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface DeploymentList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Deployment[];
}

export interface DeploymentSpec {
  replicas?: number | undefined;
  selector?: LabelSelector | undefined;
  template: PodTemplateSpec;
  strategy?: DeploymentStrategy | undefined;
  minReadySeconds?: number | undefined;
  revisionHistoryLimit?: number | undefined;
  paused?: boolean | undefined;
  progressDeadlineSeconds?: number | undefined;
  downscalePodPicker?: DownscalePodPicker | undefined;
}

export interface DeploymentStatus {
  observedGeneration?: number | undefined;
  replicas?: number | undefined;
  updatedReplicas?: number | undefined;
  readyReplicas?: number | undefined;
  availableReplicas?: number | undefined;
  unavailableReplicas?: number | undefined;
  terminatingReplicas?: number | undefined;
  conditions?: DeploymentCondition[] | undefined;
  collisionCount?: number | undefined;
}

export interface DeploymentStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateDeployment | undefined;
}

export interface DownscalePodPicker {
  http?: HTTPPodPicker | undefined;
  maxRetries?: number | undefined;
  timeoutSeconds?: number | undefined;
}

export interface HTTPPodPicker {
  host: string;
  port: number | string;
  path?: string | undefined;
  scheme?: string | undefined;
  httpHeaders?: HTTPPodPickerHeader[] | undefined;
}

export interface HTTPPodPickerHeader {
  name: string;
  value?: string | undefined;
  valueFrom?: HTTPPodPickerHeaderSource | undefined;
}

export interface HTTPPodPickerHeaderSource {
  secretKeyRef?: SecretKeySelector | undefined;
}

export interface ReplicaSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ReplicaSetSpec | undefined;
  status?: ReplicaSetStatus | undefined;
}

export interface ReplicaSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface ReplicaSetList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ReplicaSet[];
}

export interface ReplicaSetSpec {
  replicas?: number | undefined;
  minReadySeconds?: number | undefined;
  selector?: LabelSelector | undefined;
  template?: PodTemplateSpec | undefined;
  downscalePodPicker?: DownscalePodPicker | undefined;
}

export interface ReplicaSetStatus {
  replicas: number;
  fullyLabeledReplicas?: number | undefined;
  readyReplicas?: number | undefined;
  availableReplicas?: number | undefined;
  terminatingReplicas?: number | undefined;
  observedGeneration?: number | undefined;
  conditions?: ReplicaSetCondition[] | undefined;
}

export interface RollingUpdateDaemonSet {
  maxUnavailable?: number | string | undefined;
  maxSurge?: number | string | undefined;
}

export interface RollingUpdateDeployment {
  maxUnavailable?: number | string | undefined;
  maxSurge?: number | string | undefined;
}

export interface RollingUpdateStatefulSetStrategy {
  partition?: number | undefined;
  maxUnavailable?: number | string | undefined;
}

export interface StatefulSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: StatefulSetSpec | undefined;
  status?: StatefulSetStatus | undefined;
}

export interface StatefulSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface StatefulSetList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: StatefulSet[];
}

export interface StatefulSetOrdinals {
  start?: number | undefined;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  whenDeleted?: string | undefined;
  whenScaled?: string | undefined;
}

export interface StatefulSetSpec {
  replicas?: number | undefined;
  selector?: LabelSelector | undefined;
  template: PodTemplateSpec;
  volumeClaimTemplates?: PersistentVolumeClaim[] | undefined;
  serviceName?: string | undefined;
  podManagementPolicy?: string | undefined;
  updateStrategy?: StatefulSetUpdateStrategy | undefined;
  revisionHistoryLimit?: number | undefined;
  minReadySeconds?: number | undefined;
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined;
  ordinals?: StatefulSetOrdinals | undefined;
}

export interface StatefulSetStatus {
  observedGeneration?: number | undefined;
  replicas: number;
  readyReplicas?: number | undefined;
  currentReplicas?: number | undefined;
  updatedReplicas?: number | undefined;
  currentRevision?: string | undefined;
  updateRevision?: string | undefined;
  collisionCount?: number | undefined;
  conditions?: StatefulSetCondition[] | undefined;
  availableReplicas?: number | undefined;
}

export interface StatefulSetUpdateStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateStatefulSetStrategy | undefined;
}
