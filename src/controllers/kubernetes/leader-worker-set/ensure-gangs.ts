import { isControlledBy } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PodGroup, Workload } from '../../../api/generated/scheduling-v1beta1.ts';
import { gangOf } from '../../../api/lws/pod-marks.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { type Client, type EventRecorder, type Informer, isNotFound } from '../../../machinery/runtime/index.ts';
import { ownedBy } from '../../shared/pod-control/index.ts';
import {
  decideSetGang,
  disruptionOf,
  minimumOfReplica,
  REPLICA_TEMPLATE,
  UNREADABLE_GANG,
  workloadName,
} from '../../../decisions/group-making/index.ts';
import {
  createPodGroup,
  createWorkload,
  podGroupType,
  setGroupMinimum,
  setWorkloadMinimum,
  workloadType,
} from '../../shared/workload-groups/index.ts';
import { type LeaderWorkerGroup, isPodReady } from './groups.ts';

export interface GangDeps {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly type: ResourceType<LeaderWorkerSet>;
  /** Indexed by controller. */
  readonly workloads: Informer<Workload>;
  /** Indexed by set under `lws`. */
  readonly podGroups: Informer<PodGroup>;
}

/**
 * Makes what the set's gangs need, before their leaders are placed: the Workload once, and a PodGroup for every
 * leader. A group and its replacement have two PodGroups; each goes when no pod names it any more.
 */
export async function ensureGangs(
  deps: GangDeps,
  lws: LeaderWorkerSet,
  { groups, pods }: { groups: readonly LeaderWorkerGroup[]; pods: readonly Pod[] },
): Promise<void> {
  const verdict = decideSetGang(lws);
  if (verdict.reason === 'Unreadable') deps.events.record(lws, 'Warning', 'InvalidGang', UNREADABLE_GANG);
  if (verdict.reason === 'DifferentPriorities') {
    const text = 'Leader and workers have different priority classes, a gang has only one: pods are placed one by one';
    deps.events.record(lws, 'Warning', 'InvalidGang', text);
  }
  const { name = '', namespace } = lws.metadata;
  const owned = deps.podGroups.byIndex('lws', `${namespace}/${name}`).filter((group) => isControlledBy(group, lws));
  const known = workloadOf(deps, lws);
  const leaders = groups.filter(hasLiveGang);
  if (verdict.reason === 'Gang' || leaders.length > 0) {
    const workload = await ensureWorkload(deps, lws, known, verdict.reason === 'Gang' ? verdict.minCount : undefined);
    if (workload !== undefined) {
      for (const group of leaders) await ensureGang(deps, lws, { group, workload, owned });
    }
  }
  const named = new Set(pods.map(gangOf));
  const unused = owned.filter(({ metadata }) => !named.has(metadata.name) && !metadata.deletionTimestamp);
  for (const group of unused) {
    if (!(await isNamed(deps, group))) await remove(deps, podGroupType, group);
  }
  const idle = verdict.reason !== 'Gang' && owned.length === 0 && leaders.length === 0;
  if (idle && known !== undefined) await remove(deps, workloadType, known);
}

/**
 * A leader and its PodGroup are one write, but two watches tell of them: who sees the group first sees no pod that names
 * it. The server knows; nobody joins a group later than it is made.
 */
async function isNamed({ client }: GangDeps, { metadata: { labels, name, namespace } }: PodGroup): Promise<boolean> {
  const labelSelector = [LWS.name, LWS.groupIndex].map((key) => `${key}=${labels?.[key] ?? ''}`).join(',');
  const { items } = await client.list(podType, { namespace, labelSelector });
  return items.some((pod) => gangOf(pod) === name);
}

/** True unless the leader's PodGroup is missing or going: then its workers are not made, and its event comes again. */
export function hasGroupToJoin({ podGroups }: Pick<GangDeps, 'podGroups'>, leader: Pod): boolean {
  const name = gangOf(leader);
  if (name === undefined) return true;
  const group = podGroups.get({ namespace: leader.metadata.namespace, name });
  return group !== undefined && !group.metadata.deletionTimestamp;
}

/** The set's Workload, whatever its name: a set that was restored from a copy has another uid than its name tells. */
export function workloadOf({ workloads }: Pick<GangDeps, 'workloads'>, lws: LeaderWorkerSet): Workload | undefined {
  return ownedBy(workloads, lws).find(({ metadata }) => !metadata.deletionTimestamp);
}

interface LiveGang extends LeaderWorkerGroup {
  readonly leader: Pod;
}

function hasLiveGang(group: LeaderWorkerGroup): group is LiveGang {
  const { leader } = group;
  return leader !== undefined && !leader.metadata.deletionTimestamp && gangOf(leader) !== undefined;
}

async function ensureWorkload(
  deps: GangDeps,
  lws: LeaderWorkerSet,
  known: Workload | undefined,
  minCount: number | undefined,
): Promise<Workload | undefined> {
  if (known !== undefined) return minCount === undefined ? known : setWorkloadMinimum(deps, known, minCount);
  const template = lws.spec?.leaderWorkerTemplate?.workerTemplate;
  const created = await createWorkload(
    deps,
    { type: deps.type, object: lws },
    {
      name: workloadName(lws),
      template: REPLICA_TEMPLATE,
      minCount: minCount ?? 1,
      priorityClassName: template?.spec?.priorityClassName,
      disruptionMode: disruptionOf(lws),
    },
  );
  if (!isControlledBy(created, lws)) {
    const text = `Workload ${created.metadata.name} exists and belongs to someone else`;
    deps.events.record(lws, 'Warning', 'NameTaken', text);
    return undefined;
  }
  const text = `Created Workload ${created.metadata.name} for LeaderWorkerSet ${lws.metadata.name ?? ''}`;
  deps.events.record(lws, 'Normal', 'WorkloadCreated', text);
  return created;
}

async function ensureGang(
  deps: GangDeps,
  lws: LeaderWorkerSet,
  { group, owned, workload }: { group: LiveGang; workload: Workload; owned: readonly PodGroup[] },
): Promise<void> {
  const { leader } = group;
  const name = gangOf(leader) ?? '';
  const minCount = computeMinimum(lws, group);
  const existing = owned.find(({ metadata }) => metadata.name === name);
  if (existing !== undefined) {
    if (!existing.metadata.deletionTimestamp) await setGroupMinimum(deps, existing, minCount);
    return;
  }
  const { labels = {} } = leader.metadata;
  const copied = [LWS.name, LWS.groupIndex, LWS.revision].map((key): [string, string] => [key, labels[key] ?? '']);
  await createPodGroup(
    deps,
    { type: deps.type, object: lws },
    {
      name,
      workload,
      labels: Object.fromEntries(copied),
      minCount,
      priorityClassName: leader.spec?.priorityClassName,
      disruptionMode: disruptionOf(lws),
    },
  );
}

/** The minimum of a group as it stands, see `minimumOfReplica`. */
export function computeMinimum(lws: LeaderWorkerSet, { leader, workerSet }: LiveGang): number {
  const hasWorkers = workerSet !== undefined && isControlledBy(workerSet, leader);
  return minimumOfReplica(lws, leader, { hasWorkers, isReady: isPodReady(leader) });
}

async function remove<T extends Workload | PodGroup>(
  { client }: GangDeps,
  type: ResourceType<T>,
  { metadata }: T,
): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  await client.delete(type, { namespace, name }, { preconditions: { uid } }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
