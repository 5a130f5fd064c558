import { createHash } from 'node:crypto';
import { controllerReference } from '../../../api/core/owner.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod, PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { gangOf, groupIndexOf, groupKeyOf } from '../../../api/lws/pod-marks.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import { decideSetGang, workloadName } from '../../../decisions/group-making/index.ts';

export const replicasOf = ({ spec }: LeaderWorkerSet): number => spec?.replicas ?? 1;
export const sizeOf = ({ spec }: LeaderWorkerSet): number => spec?.leaderWorkerTemplate?.size ?? 1;

/** Names what a group is made of; a group made of anything else is replaced. No pod can join or leave a gang later. */
export function revisionOf(lws: LeaderWorkerSet): string {
  const { leaderTemplate, workerTemplate, size = 1 } = lws.spec?.leaderWorkerTemplate ?? {};
  const gang = decideSetGang(lws).reason === 'Gang' ? ['gang'] : [];
  return createHash('sha1')
    .update(JSON.stringify([leaderTemplate ?? null, workerTemplate ?? null, size, ...gang]))
    .digest('hex')
    .slice(0, 10);
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
  const { leaderTemplate, workerTemplate } = lws.spec?.leaderWorkerTemplate ?? {};
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
          [LWS.size]: String(sizeOf(lws)),
          ...(decideSetGang(lws).reason === 'Gang' && { [LWS.workloadName]: workload }),
        },
      }),
    },
  };
}

/** The StatefulSet of one group's workers, owned by their leader: when the leader goes, they go. */
export function workerStatefulSet(lws: LeaderWorkerSet, leader: Pod): StatefulSet {
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
      [LWS.size]: String(sizeOf(lws)),
      [LWS.leaderName]: leaderName,
      ...(gang !== undefined && { [LWS.workloadName]: leader.metadata.annotations?.[LWS.workloadName] ?? '' }),
    },
  });
  if (gang !== undefined) template.spec = { containers: [], ...template.spec, schedulingGroup: { podGroupName: gang } };
  return {
    metadata: {
      name: leaderName,
      namespace,
      labels: { ...labels, [LWS.revision]: revision },
      ownerReferences: [controllerReference(podType, leader)],
    },
    spec: {
      replicas: sizeOf(lws) - 1,
      serviceName: lws.metadata.name ?? '',
      ordinals: { start: 1 },
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template,
    },
  };
}
