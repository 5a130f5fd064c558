import type { StatefulSetPersistentVolumeClaimRetentionPolicy } from '../generated/apps-v1.ts';
import type { PersistentVolumeClaim, PodTemplateSpec } from '../generated/core-v1.ts';
import type { Condition, LabelSelector, ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';

export const RESTART_POLICIES = ['RecreateGroupOnPodRestart', 'RecreateGroupAfterStart', 'None', 'Default'] as const;
export const STARTUP_POLICIES = ['LeaderCreated', 'LeaderReady'] as const;
export const SUBGROUP_TYPES = ['LeaderWorker', 'LeaderExcluded'] as const;
export const SUBDOMAIN_POLICIES = ['Shared', 'UniquePerReplica'] as const;

export interface SubGroupPolicy {
  /** LeaderWorker: the leader is in the first subgroup. LeaderExcluded: it is in none. */
  subGroupPolicyType?: string | undefined;
  /** Pods of a subgroup. */
  subGroupSize?: number | undefined;
}

export interface LeaderWorkerTemplate {
  /** The worker template serves for the leader too when unset. */
  leaderTemplate?: PodTemplateSpec | undefined;
  workerTemplate?: PodTemplateSpec | undefined;
  /** Pods of a group, the leader among them. */
  size?: number | undefined;
  restartPolicy?: string | undefined;
  subGroupPolicy?: SubGroupPolicy | undefined;
  /** Every pod of a group gets a claim of its own from each. */
  volumeClaimTemplates?: PersistentVolumeClaim[] | undefined;
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined;
}

export interface RolloutStrategy {
  type?: string | undefined;
  rollingUpdateConfiguration?:
    | {
        partition?: number | undefined;
        maxUnavailable?: number | string | undefined;
        maxSurge?: number | string | undefined;
      }
    | undefined;
}

export interface LeaderWorkerSetSpec {
  replicas?: number | undefined;
  leaderWorkerTemplate?: LeaderWorkerTemplate | undefined;
  rolloutStrategy?: RolloutStrategy | undefined;
  startupPolicy?: string | undefined;
  networkConfig?: { subdomainPolicy?: string | undefined } | undefined;
  /** Present, even empty: every group is placed as one gang. */
  scheduling?: { replica?: { schedulingPolicy?: { gang?: object | undefined } | undefined } | undefined } | undefined;
}

export interface LeaderWorkerSetStatus {
  conditions?: Condition[] | undefined;
  observedGeneration?: number | undefined;
  replicas?: number | undefined;
  readyReplicas?: number | undefined;
  updatedReplicas?: number | undefined;
  hpaPodSelector?: string | undefined;
}

/** `leaderworkerset.x-k8s.io/v1`: replicas of a group of one leader and its workers. */
export interface LeaderWorkerSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: LeaderWorkerSetSpec | undefined;
  status?: LeaderWorkerSetStatus | undefined;
}

/** `apps.kruise.io/v1alpha1`: the same set with its templates at the top of the spec. */
export interface KruiseLeaderWorkerSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?:
    | {
        replicas?: number | undefined;
        size?: number | undefined;
        selector?: LabelSelector | undefined;
        leaderTemplate?: PodTemplateSpec | undefined;
        workerTemplate?: PodTemplateSpec | undefined;
        restartPolicy?: string | undefined;
      }
    | undefined;
  status?: LeaderWorkerSetStatus | undefined;
}

/** Pods of a group where the kruise spelling names no size: one leader and two workers. */
export const KRUISE_DEFAULT_SIZE = 3;

export const leaderWorkerSetType: ResourceType<LeaderWorkerSet> = {
  group: 'leaderworkerset.x-k8s.io',
  version: 'v1',
  kind: 'LeaderWorkerSet',
  plural: 'leaderworkersets',
  namespaced: true,
};

export const kruiseLeaderWorkerSetType: ResourceType<KruiseLeaderWorkerSet> = {
  group: 'apps.kruise.io',
  version: 'v1alpha1',
  kind: 'LeaderWorkerSet',
  plural: 'leaderworkersets',
  namespaced: true,
};

const PREFIX = 'leaderworkerset.sigs.k8s.io/';

/** The marks the set leaves on what it makes; other software reads them. */
export const LWS = {
  name: `${PREFIX}name`,
  groupIndex: `${PREFIX}group-index`,
  groupKey: `${PREFIX}group-key`,
  workerIndex: `${PREFIX}worker-index`,
  revision: `${PREFIX}template-revision-hash`,
  size: `${PREFIX}size`,
  replicas: `${PREFIX}replicas`,
  leaderName: `${PREFIX}leader-name`,
  /** The pods of a group share a domain of the topology that it names, and no other group is there. On sets and pods. */
  exclusiveTopology: `${PREFIX}exclusive-topology`,
  /** The same for subgroups. */
  subGroupExclusiveTopology: `${PREFIX}subgroup-exclusive-topology`,
  subGroupIndex: `${PREFIX}subgroup-index`,
  subGroupKey: `${PREFIX}subgroup-key`,
  subGroupSize: `${PREFIX}subgroup-size`,
  subGroupType: `${PREFIX}subgroup-policy-type`,
  /** On leaders whose group has a Service of its own. */
  subdomainPolicy: `${PREFIX}subdomainPolicy`,
  /** On sets: RecreateGroupOnPodRestart waits until all pods of a group have started. */
  recreateAfterStart: `${PREFIX}experimental-recreate-group-after-start`,
  /** On pods of a set whose groups are gangs: the Workload their PodGroups belong to. */
  workloadName: `${PREFIX}workload-name`,
} as const;

/** Both spellings as one form. */
export function fromKruise({ spec = {}, ...rest }: KruiseLeaderWorkerSet): LeaderWorkerSet {
  return {
    ...rest,
    spec: {
      replicas: spec.replicas,
      leaderWorkerTemplate: {
        leaderTemplate: spec.leaderTemplate,
        workerTemplate: spec.workerTemplate,
        size: spec.size ?? KRUISE_DEFAULT_SIZE,
        restartPolicy: spec.restartPolicy,
      },
    },
  };
}
