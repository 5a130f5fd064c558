import { createHash } from 'node:crypto';
import { controllerReference } from '../../../api/core/owner.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod, PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { gangOf, groupIndexOf, groupKeyOf } from '../../../api/lws/pod-marks.ts';
import { keepToItself } from '../../../api/lws/pod-placement.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import { decideSetGang, workloadName } from '../../../decisions/group-making/index.ts';

export const replicasOf = ({ spec }: LeaderWorkerSet): number => spec?.replicas ?? 1;
export const sizeOf = ({ spec }: LeaderWorkerSet): number => spec?.leaderWorkerTemplate?.size ?? 1;

/** Every group has a Service of its own, named as its leader. */
export const hasOwnServices = ({ spec }: LeaderWorkerSet): boolean =>
  spec?.networkConfig?.subdomainPolicy === 'UniquePerReplica';

/** Names what a group is made of; a group made of anything else is replaced. No pod can join or leave a gang later. */
export function revisionOf(lws: LeaderWorkerSet): string {
  const { leaderTemplate, subGroupPolicy, workerTemplate, size = 1 } = lws.spec?.leaderWorkerTemplate ?? {};
  const parts: unknown[] = [leaderTemplate ?? null, workerTemplate ?? null, size];
  if (decideSetGang(lws).reason === 'Gang') parts.push('gang');
  // Sets without them are named as before there were these fields.
  if (subGroupPolicy) parts.push(subGroupPolicy);
  if (hasOwnServices(lws)) parts.push('UniquePerReplica');
  return createHash('sha1').update(JSON.stringify(parts)).digest('hex').slice(0, 10);
}

interface Marks {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

function withMarks(template: PodTemplateSpec | undefined, { annotations, labels }: Marks): PodTemplateSpec {
  const copy = deepClone(template ?? {});
  return {
    ...copy,
    metadata: {
      ...copy.metadata,
      labels: { ...copy.metadata?.labels, ...labels },
      annotations: { ...copy.metadata?.annotations, ...annotations },
    },
  };
}

/** What leaders and workers are told of the set alike. */
function commonAnnotations(lws: LeaderWorkerSet): Record<string, string> {
  const { annotations = {} } = lws.metadata;
  const { subGroupPolicy } = lws.spec?.leaderWorkerTemplate ?? {};
  const copied = (key: string): Record<string, string> => (annotations[key] ? { [key]: annotations[key] } : {});
  return {
    [LWS.size]: String(sizeOf(lws)),
    ...copied(LWS.exclusiveTopology),
    ...(subGroupPolicy && {
      [LWS.subGroupSize]: String(subGroupPolicy.subGroupSize),
      ...copied(LWS.subGroupExclusiveTopology),
    }),
  };
}

/** Claims that each pod gets for itself. */
function claimsOf({ spec }: LeaderWorkerSet): Partial<NonNullable<StatefulSet['spec']>> {
  const { persistentVolumeClaimRetentionPolicy, volumeClaimTemplates = [] } = spec?.leaderWorkerTemplate ?? {};
  return {
    ...(volumeClaimTemplates.length > 0 && { volumeClaimTemplates: deepClone(volumeClaimTemplates) }),
    ...(persistentVolumeClaimRetentionPolicy && { persistentVolumeClaimRetentionPolicy }),
  };
}

/** The StatefulSet of the leaders. The labels that differ from leader to leader are set when a pod is created. */
export function leaderStatefulSet(
  lws: LeaderWorkerSet,
  {
    partition,
    replicas = replicasOf(lws),
    revision,
    type,
    workload = workloadName(lws),
  }: {
    partition: number;
    replicas?: number | undefined;
    revision: string;
    type: ResourceType;
    workload?: string | undefined;
  },
): StatefulSet {
  const { name = '', namespace } = lws.metadata;
  const { leaderTemplate, subGroupPolicy, workerTemplate } = lws.spec?.leaderWorkerTemplate ?? {};
  const labels = { [LWS.name]: name, [LWS.workerIndex]: '0' };
  return {
    metadata: {
      name,
      namespace,
      labels: { [LWS.name]: name, [LWS.revision]: revision },
      annotations: { [LWS.replicas]: String(replicasOf(lws)) },
      ownerReferences: [controllerReference(type, lws)],
    },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition, maxUnavailable: '100%' } },
      template: withMarks(leaderTemplate ?? workerTemplate, {
        labels: { ...labels, [LWS.revision]: revision },
        annotations: {
          ...commonAnnotations(lws),
          ...(subGroupPolicy && { [LWS.subGroupType]: subGroupPolicy.subGroupPolicyType ?? 'LeaderWorker' }),
          ...(hasOwnServices(lws) && { [LWS.subdomainPolicy]: 'UniquePerReplica' }),
          ...(decideSetGang(lws).reason === 'Gang' && { [LWS.workloadName]: workload }),
        },
      }),
      ...claimsOf(lws),
    },
  };
}

/**
 * The StatefulSet of one group's workers, owned by their leader: when the leader goes, they go. `nodeSelector` keeps them to
 * the domain of their leader.
 */
export function workerStatefulSet(
  lws: LeaderWorkerSet,
  leader: Pod,
  nodeSelector?: Record<string, string>,
): StatefulSet {
  const leaderName = leader.metadata.name ?? '';
  const { namespace = '' } = leader.metadata;
  const labels = {
    [LWS.name]: lws.metadata.name ?? '',
    [LWS.groupIndex]: leader.metadata.labels?.[LWS.groupIndex] ?? String(groupIndexOf(leaderName) ?? 0),
    [LWS.groupKey]: groupKeyOf(namespace, leaderName),
  };
  const revision = leader.metadata.labels?.[LWS.revision] ?? '';
  const gang = gangOf(leader);
  const template = withMarks(lws.spec?.leaderWorkerTemplate?.workerTemplate, {
    labels: { ...labels, [LWS.revision]: revision },
    annotations: {
      ...commonAnnotations(lws),
      [LWS.leaderName]: leaderName,
      ...(gang !== undefined && { [LWS.workloadName]: leader.metadata.annotations?.[LWS.workloadName] ?? '' }),
    },
  });
  if (gang !== undefined) {
    template.spec = { containers: [], ...template.spec, schedulingGroup: { podGroupName: gang } };
    // Placed together with their leader: they cannot wait for the place that it gets.
    const key = labels[LWS.groupKey];
    keepToItself(template, template.metadata?.annotations?.[LWS.exclusiveTopology], { label: LWS.groupKey, key });
  }
  if (nodeSelector !== undefined) {
    template.spec = {
      containers: [],
      ...template.spec,
      nodeSelector: { ...template.spec?.nodeSelector, ...nodeSelector },
    };
  }
  return {
    metadata: {
      name: leaderName,
      namespace,
      labels: { ...labels, [LWS.revision]: revision },
      ownerReferences: [controllerReference(podType, leader)],
    },
    spec: {
      replicas: sizeOf(lws) - 1,
      serviceName: hasOwnServices(lws) ? leaderName : (lws.metadata.name ?? ''),
      ordinals: { start: 1 },
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template,
      ...claimsOf(lws),
    },
  };
}
