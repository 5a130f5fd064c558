import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Node, Pod, Service } from '../../../api/generated/core-v1.ts';
import { controllerReference, isControlledBy } from '../../../api/core/owner.ts';
import { gangOf } from '../../../api/lws/pod-marks.ts';
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
import { hasOwnServices, leaderStatefulSet, replicasOf, revisionOf, sizeOf, workerStatefulSet } from './desired.ts';
import {
  computeRollout,
  gatherGroups,
  type LeaderWorkerGroup,
  isPodReady,
  recreateReason,
  restartPolicyOf,
} from './groups.ts';
import { asOfLeader, ensureRevision, forgetRevisions, type RevisionDeps } from './revisions.ts';
import { computeStatus } from './status.ts';

export interface LeaderWorkerSetDeps extends GangDeps, RevisionDeps {
  readonly clock: Clock;
  /** The set in its one form, whichever spelling it was written in. */
  readonly get: (key: ObjectKey) => LeaderWorkerSet | undefined;
  readonly writeStatus: (lws: LeaderWorkerSet, status: LeaderWorkerSet['status']) => Promise<void>;
  readonly pods: Informer<Pod>;
  readonly statefulSets: Informer<StatefulSet>;
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
}

/** How long until it is looked again whether the node of a leader says where it is. */
const LOOK_AGAIN_MS = 10_000;

/** Brings the groups of one set in line with its spec: revision, gangs, leaders, then workers, then replacements, then status. */
export async function reconcileLeaderWorkerSet(deps: LeaderWorkerSetDeps, key: ObjectKey): Promise<ReconcileResult> {
  const lws = deps.get(key);
  if (lws === undefined || lws.metadata.deletionTimestamp) return settled;
  const revision = revisionOf(lws);
  const pods = deps.pods.byIndex('lws', `${key.namespace}/${key.name}`);
  const sets = deps.statefulSets.byIndex('lws', `${key.namespace}/${key.name}`);
  const groups = gatherGroups(pods, sets);

  await ensureRevision(deps, lws, revision);
  if (!hasOwnServices(lws)) await ensureService(deps, lws);
  await ensureGangs(deps, lws, { groups, pods });
  await ensureLeaders(deps, lws, { groups, revision });
  let isWaiting = false;
  for (const group of groups) isWaiting = (await ensureGroup(deps, lws, group)) === 'waits' || isWaiting;
  if (isUpdated(lws, groups, revision)) await forgetRevisions(deps, lws, revision);

  const status = computeStatus(lws, groups, { now: deps.clock.now(), revision });
  if (!deepEqual(status, lws.status)) await deps.writeStatus(lws, status);
  return isWaiting ? { requeueAfterMs: LOOK_AGAIN_MS } : settled;
}

/** No group is of an older revision, and none can come back as one. */
function isUpdated(lws: LeaderWorkerSet, groups: readonly LeaderWorkerGroup[], revision: string): boolean {
  const partition = lws.spec?.rolloutStrategy?.rollingUpdateConfiguration?.partition ?? 0;
  const current = groups.filter((group) => group.leader !== undefined && group.revision === revision);
  return partition === 0 && current.length === groups.length && current.length >= replicasOf(lws);
}

/** The Service of the set; of one group, where each has its own. */
async function ensureService(
  { client, services, type }: LeaderWorkerSetDeps,
  lws: LeaderWorkerSet,
  leader?: Pod,
): Promise<void> {
  const { name: set = '', namespace } = lws.metadata;
  const name = leader?.metadata.name ?? set;
  if (services.get({ namespace, name }) !== undefined) return;
  const owner = leader === undefined ? controllerReference(type, lws) : controllerReference(podType, leader);
  const index = leader?.metadata.labels?.[LWS.groupIndex];
  await ignoreExisting(
    client.create(serviceType, {
      metadata: { name, namespace, labels: { [LWS.name]: set }, ownerReferences: [owner] },
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: { [LWS.name]: set, ...(index !== undefined && { [LWS.groupIndex]: index }) },
      },
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
    !isKept(wanted, existing) ||
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
      persistentVolumeClaimRetentionPolicy:
        wanted.spec?.persistentVolumeClaimRetentionPolicy ?? existing.spec?.persistentVolumeClaimRetentionPolicy,
    } as StatefulSet['spec'],
  });
}

/** What becomes of claims is as the set says. The claims themselves are as they were: no StatefulSet can change them. */
function isKept({ spec: wanted }: StatefulSet, { spec: is }: StatefulSet): boolean {
  const { whenDeleted, whenScaled } = wanted?.persistentVolumeClaimRetentionPolicy ?? {};
  const now = is?.persistentVolumeClaimRetentionPolicy;
  const isSame = (value: string | undefined, actual: string | undefined): boolean =>
    value === undefined || value === (actual ?? 'Retain');
  return isSame(whenDeleted, now?.whenDeleted) && isSame(whenScaled, now?.whenScaled);
}

/** More leaders were asked for than the set then had replicas. */
function isSurging({ metadata, spec }: StatefulSet): boolean {
  return (spec?.replicas ?? 0) > Number(metadata.annotations?.[LWS.replicas]);
}

/** Makes a group's workers, or takes the group down whole when its policy says so. */
async function ensureGroup(
  deps: LeaderWorkerSetDeps,
  lws: LeaderWorkerSet,
  group: LeaderWorkerGroup,
): Promise<'waits' | undefined> {
  const { client, events } = deps;
  const { leader } = group;
  if (leader === undefined || leader.metadata.deletionTimestamp) return undefined;
  const reason = recreateReason(group, restartPolicyOf(lws), sizeOf(lws));
  if (reason !== undefined) {
    const { name = '', namespace, uid } = leader.metadata;
    events.record(lws, 'Normal', 'RecreateGroup', `Replacing group ${group.index}: ${reason}`);
    await client
      .delete(podType, { name, namespace }, { propagationPolicy: 'Foreground', preconditions: { uid } })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    return undefined;
  }
  const made = asOfLeader(deps, lws, leader);
  if (hasOwnServices(made)) await ensureService(deps, made, leader);
  const mayStart = lws.spec?.startupPolicy !== 'LeaderReady' || isPodReady(leader);
  if ((group.workerSet !== undefined && isControlledBy(group.workerSet, leader)) || !mayStart) return undefined;
  if (!hasGroupToJoin(deps, leader) || sizeOf(made) <= 1) return undefined;
  const domain = domainOf(deps, made, leader);
  if (domain === 'unknown') return leader.spec?.nodeName ? 'waits' : undefined;
  await ignoreExisting(client.create(statefulSetType, workerStatefulSet(made, leader, domain)));
  return undefined;
}

/** Where the workers of a group with a domain of its own have to be: where their leader is, once that is known. */
function domainOf(
  { events, nodes }: LeaderWorkerSetDeps,
  lws: LeaderWorkerSet,
  leader: Pod,
): Record<string, string> | undefined | 'unknown' {
  const key = lws.metadata.annotations?.[LWS.exclusiveTopology];
  if (!key || gangOf(leader) !== undefined) return undefined;
  const nodeName = leader.spec?.nodeName;
  const value = nodeName ? nodes.get({ name: nodeName })?.metadata.labels?.[key] : undefined;
  if (value !== undefined) return { [key]: value };
  if (nodeName)
    events.record(lws, 'Warning', 'NoTopology', `Node ${nodeName} of ${leader.metadata.name} has no label ${key}`);
  return 'unknown';
}

async function ignoreExisting(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
