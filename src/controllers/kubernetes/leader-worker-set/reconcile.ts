import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod, Service } from '../../../api/generated/core-v1.ts';
import { controllerReference, isControlledBy } from '../../../api/core/owner.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podType, serviceType, statefulSetType } from '../../../api/resource-types.ts';
import {
  type Clock,
  type Informer,
  isAlreadyExists,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import { ensureGangs, type GangDeps, hasGroupToJoin, workloadOf } from './ensure-gangs.ts';
import { leaderStatefulSet, replicasOf, revisionOf, workerStatefulSet } from './desired.ts';
import { computeRollout, gatherGroups, type LeaderWorkerGroup, isPodReady, recreateReason } from './groups.ts';
import { computeStatus } from './status.ts';

export interface LeaderWorkerSetDeps extends GangDeps {
  readonly clock: Clock;
  /** The set in its one form, whichever spelling it was written in. */
  readonly get: (key: ObjectKey) => LeaderWorkerSet | undefined;
  readonly writeStatus: (lws: LeaderWorkerSet, status: LeaderWorkerSet['status']) => Promise<void>;
  readonly pods: Informer<Pod>;
  readonly statefulSets: Informer<StatefulSet>;
  readonly services: Informer<Service>;
}

/** Brings the groups of one set in line with its spec: gangs, leaders, then workers, then replacements, then status. */
export async function reconcileLeaderWorkerSet(deps: LeaderWorkerSetDeps, key: ObjectKey): Promise<ReconcileResult> {
  const lws = deps.get(key);
  if (lws === undefined || lws.metadata.deletionTimestamp) return settled;
  const revision = revisionOf(lws);
  const pods = deps.pods.byIndex('lws', `${key.namespace}/${key.name}`);
  const sets = deps.statefulSets.byIndex('lws', `${key.namespace}/${key.name}`);
  const groups = gatherGroups(pods, sets);

  await ensureService(deps, lws);
  await ensureGangs(deps, lws, { groups, pods });
  await ensureLeaders(deps, lws, { groups, revision });
  for (const group of groups) await ensureGroup(deps, lws, group);

  const status = computeStatus(lws, groups, { now: deps.clock.now(), revision });
  if (!deepEqual(status, lws.status)) await deps.writeStatus(lws, status);
  return settled;
}

async function ensureService({ client, services, type }: LeaderWorkerSetDeps, lws: LeaderWorkerSet): Promise<void> {
  const { name = '', namespace } = lws.metadata;
  if (services.get({ namespace, name }) !== undefined) return;
  await ignoreExisting(
    client.create(serviceType, {
      metadata: { name, namespace, ownerReferences: [controllerReference(type, lws)] },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { [LWS.name]: name } },
    }),
  );
}

async function ensureLeaders(
  { client, events, statefulSets, type, workloads }: LeaderWorkerSetDeps,
  lws: LeaderWorkerSet,
  { groups, revision }: { groups: readonly LeaderWorkerGroup[]; revision: string },
): Promise<void> {
  const { name = '', namespace } = lws.metadata;
  const existing = statefulSets.get({ namespace, name });
  const { partition, replicas } =
    existing === undefined
      ? { partition: 0, replicas: replicasOf(lws) }
      : computeRollout(lws, groups, { revision, surging: isSurging(existing) });
  const wanted = leaderStatefulSet(lws, {
    partition,
    replicas,
    revision,
    type,
    workload: workloadOf({ workloads }, lws)?.metadata.name,
  });
  if (existing === undefined) {
    await ignoreExisting(client.create(statefulSetType, wanted));
    return;
  }
  if (!isControlledBy(existing, lws)) {
    events.record(lws, 'Warning', 'NameTaken', `StatefulSet ${name} exists and belongs to someone else`);
    return;
  }
  const changed =
    existing.metadata.labels?.[LWS.revision] !== revision ||
    existing.metadata.annotations?.[LWS.replicas] !== String(replicasOf(lws)) ||
    existing.spec?.replicas !== wanted.spec?.replicas ||
    existing.spec?.updateStrategy?.rollingUpdate?.partition !== partition;
  if (!changed) return;
  await client.update(statefulSetType, {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...existing.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...existing.metadata.annotations, ...wanted.metadata.annotations },
    },
    spec: {
      ...existing.spec,
      replicas: wanted.spec?.replicas,
      updateStrategy: wanted.spec?.updateStrategy,
      template: wanted.spec?.template,
    } as StatefulSet['spec'],
  });
}

/** More leaders were asked for than the set then had replicas. */
function isSurging({ metadata, spec }: StatefulSet): boolean {
  return (spec?.replicas ?? 0) > Number(metadata.annotations?.[LWS.replicas]);
}

/** Makes a group's workers, or takes the group down whole when its policy says so. */
async function ensureGroup(deps: LeaderWorkerSetDeps, lws: LeaderWorkerSet, group: LeaderWorkerGroup): Promise<void> {
  const { client, events } = deps;
  const { leader } = group;
  if (leader === undefined || leader.metadata.deletionTimestamp) return;
  const reason = recreateReason(group, lws.spec?.leaderWorkerTemplate?.restartPolicy);
  if (reason !== undefined) {
    const { name = '', namespace, uid } = leader.metadata;
    events.record(lws, 'Normal', 'RecreateGroup', `Replacing group ${group.index}: ${reason}`);
    await client
      .delete(podType, { name, namespace }, { propagationPolicy: 'Foreground', preconditions: { uid } })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    return;
  }
  const mayStart = lws.spec?.startupPolicy !== 'LeaderReady' || isPodReady(leader);
  if ((group.workerSet !== undefined && isControlledBy(group.workerSet, leader)) || !mayStart) return;
  if (!hasGroupToJoin(deps, leader)) return;
  const wanted = workerStatefulSet(lws, leader);
  if ((wanted.spec?.replicas ?? 0) > 0) await ignoreExisting(client.create(statefulSetType, wanted));
}

async function ignoreExisting(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
