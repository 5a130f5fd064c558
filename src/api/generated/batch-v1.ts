// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ObjectReference, PodTemplateSpec } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CronJob {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: CronJobSpec | undefined;
  status?: CronJobStatus | undefined;
}

export interface CronJobList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CronJob[];
}

export interface CronJobSpec {
  schedule: string;
  timeZone?: string | undefined;
  startingDeadlineSeconds?: number | undefined;
  concurrencyPolicy?: string | undefined;
  suspend?: boolean | undefined;
  jobTemplate: JobTemplateSpec;
  successfulJobsHistoryLimit?: number | undefined;
  failedJobsHistoryLimit?: number | undefined;
}

export interface CronJobStatus {
  active?: ObjectReference[] | undefined;
  lastScheduleTime?: string | undefined;
  lastSuccessfulTime?: string | undefined;
}

export interface Job {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: JobSpec | undefined;
  status?: JobStatus | undefined;
}

export type JobAllDisruptionMode = Record<string, never>;

export type JobBasicSchedulingPolicy = Record<string, never>;

export interface JobCondition {
  type: string;
  status: string;
  lastProbeTime?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface JobDisruptionMode {
  single?: JobSingleDisruptionMode | undefined;
  all?: JobAllDisruptionMode | undefined;
}

export interface JobGangSchedulingPolicy {
  minCount?: number | undefined;
}

export interface JobList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Job[];
}

export interface JobResourceClaim {
  name: string;
  resourceClaimName?: string | undefined;
  resourceClaimTemplateName?: string | undefined;
}

export interface JobSchedulingConfiguration {
  schedulingPolicy?: JobSchedulingPolicy | undefined;
  schedulingConstraints?: JobSchedulingConstraints | undefined;
  disruptionMode?: JobDisruptionMode | undefined;
  resourceClaims?: JobResourceClaim[] | undefined;
}

export interface JobSchedulingConstraints {
  topology?: JobTopologyConstraint[] | undefined;
}

export interface JobSchedulingPolicy {
  basic?: JobBasicSchedulingPolicy | undefined;
  gang?: JobGangSchedulingPolicy | undefined;
}

export type JobSingleDisruptionMode = Record<string, never>;

export interface JobSpec {
  parallelism?: number | undefined;
  completions?: number | undefined;
  activeDeadlineSeconds?: number | undefined;
  podFailurePolicy?: PodFailurePolicy | undefined;
  successPolicy?: SuccessPolicy | undefined;
  backoffLimit?: number | undefined;
  backoffLimitPerIndex?: number | undefined;
  maxFailedIndexes?: number | undefined;
  selector?: LabelSelector | undefined;
  manualSelector?: boolean | undefined;
  template: PodTemplateSpec;
  ttlSecondsAfterFinished?: number | undefined;
  completionMode?: string | undefined;
  suspend?: boolean | undefined;
  podReplacementPolicy?: string | undefined;
  managedBy?: string | undefined;
  scheduling?: JobSchedulingConfiguration | undefined;
}

export interface JobStatus {
  conditions?: JobCondition[] | undefined;
  startTime?: string | undefined;
  completionTime?: string | undefined;
  active?: number | undefined;
  succeeded?: number | undefined;
  failed?: number | undefined;
  terminating?: number | undefined;
  completedIndexes?: string | undefined;
  failedIndexes?: string | undefined;
  uncountedTerminatedPods?: UncountedTerminatedPods | undefined;
  ready?: number | undefined;
}

export interface JobTemplateSpec {
  metadata?: ObjectMeta | undefined;
  spec?: JobSpec | undefined;
}

export interface JobTopologyConstraint {
  key: string;
}

export interface PodFailurePolicy {
  rules: PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  containerName?: string | undefined;
  operator: string;
  values: number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  type: string;
  status?: string | undefined;
}

export interface PodFailurePolicyRule {
  action: string;
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement | undefined;
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[] | undefined;
}

export interface SuccessPolicy {
  rules: SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  succeededIndexes?: string | undefined;
  succeededCount?: number | undefined;
}

export interface UncountedTerminatedPods {
  succeeded?: string[] | undefined;
  failed?: string[] | undefined;
}
