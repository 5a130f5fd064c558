import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { type LeaderWorkerSet, LWS } from '../../../api/lws/types.ts';
import { scaledValue } from '../../../machinery/values/index.ts';
import { groupIndexOf } from '../../../api/lws/pod-marks.ts';
import { replicasOf, sizeOf } from './desired.ts';

/** One replica of the set, as it is now. */
export interface LeaderWorkerGroup {
  readonly index: number;
  readonly leader: Pod | undefined;
  readonly workers: readonly Pod[];
  readonly workerSet: StatefulSet | undefined;
  readonly revision: string;
}

export function gatherGroups(pods: readonly Pod[], workerSets: readonly StatefulSet[]): LeaderWorkerGroup[] {
  const setByLeader = new Map(workerSets.map((set) => [set.metadata.name, set]));
  const leaders = new Map<number, Pod>();
  const workers = new Map<number, Pod[]>();
  for (const pod of pods) {
    const isLeader = pod.metadata.labels?.[LWS.workerIndex] === '0';
    const label = pod.metadata.labels?.[LWS.groupIndex];
    const index = label === undefined ? groupIndexOf(pod.metadata.name ?? '') : Number(label);
    if (index === undefined || Number.isNaN(index)) continue;
    if (isLeader) leaders.set(index, pod);
    else workers.set(index, [...(workers.get(index) ?? []), pod]);
  }
  return [...new Set([...leaders.keys(), ...workers.keys()])]
    .sort((a, b) => a - b)
    .map((index) => {
      const leader = leaders.get(index);
      return {
        index,
        leader,
        workers: workers.get(index) ?? [],
        workerSet: setByLeader.get(leader?.metadata.name),
        revision: leader?.metadata.labels?.[LWS.revision] ?? '',
      };
    });
}

export function isPodReady({ metadata, status }: Pod): boolean {
  return (
    !metadata.deletionTimestamp &&
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')
  );
}

export function isGroupReady({ leader, workers }: LeaderWorkerGroup, size: number): boolean {
  return leader !== undefined && isPodReady(leader) && workers.filter(isPodReady).length >= size - 1;
}

export type RecreateReason = 'PodRestarted' | 'PodDeleted';

/**
 * Why a group must be replaced as a whole; undefined when it may stay.
 *  1. policy None (or its old name Default): never
 *  2. no leader, or the leader is going: the group is being replaced already
 *  3. RecreateGroupAfterStart, and a member is missing or has not started yet: not now
 *  4. a container of a member has restarted, or a worker is being deleted
 */
export function recreateReason(
  group: LeaderWorkerGroup,
  restartPolicy = 'RecreateGroupOnPodRestart',
  size = 1 + group.workers.length,
): RecreateReason | undefined {
  if (restartPolicy === 'None' || restartPolicy === 'Default') return undefined;
  const { leader, workers } = group;
  if (leader === undefined || leader.metadata.deletionTimestamp) return undefined;
  const members = [leader, ...workers];
  if (
    restartPolicy === 'RecreateGroupAfterStart' &&
    (members.length < size || members.some(({ status }) => (status?.phase ?? 'Pending') === 'Pending'))
  ) {
    return undefined;
  }
  // Workers of the leader before this one still go; they say nothing of this group.
  const own = workers.filter(({ metadata }) => !isOlder(metadata.creationTimestamp, leader.metadata.creationTimestamp));
  if (own.some(({ metadata }) => metadata.deletionTimestamp)) return 'PodDeleted';
  return [leader, ...own].some(hasRestarted) ? 'PodRestarted' : undefined;
}

/** The policy that holds for a set: an annotation may have it wait for the start of a group. */
export function restartPolicyOf({ metadata, spec }: LeaderWorkerSet): string {
  const { restartPolicy = 'RecreateGroupOnPodRestart' } = spec?.leaderWorkerTemplate ?? {};
  const waits = metadata.annotations?.[LWS.recreateAfterStart] !== undefined;
  return waits && restartPolicy === 'RecreateGroupOnPodRestart' ? 'RecreateGroupAfterStart' : restartPolicy;
}

function hasRestarted({ status }: Pod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.some(({ restartCount }) => (restartCount ?? 0) > 0);
}

const isOlder = (a: string | null | undefined, b: string | null | undefined): boolean => (a ?? '') < (b ?? '');

/** How far a rolling update has come. */
export interface Rollout {
  /** Leaders below it keep their revision. */
  readonly partition: number;
  /** Groups there shall be meanwhile. */
  readonly replicas: number;
}

/**
 * The next step of a rolling update. Groups are replaced from the highest index down, as many at once as
 * `maxUnavailable` leaves beside those that are down for other reasons, and one more for each group of `maxSurge` that
 * serves. Those stay until all the others serve again; `surging` says that they have been asked for.
 */
export function computeRollout(
  lws: LeaderWorkerSet,
  groups: readonly LeaderWorkerGroup[],
  { revision, surging = false }: { revision: string; surging?: boolean },
): Rollout {
  const replicas = replicasOf(lws);
  const configuration = lws.spec?.rolloutStrategy?.rollingUpdateConfiguration ?? {};
  const { maxSurge = 0, maxUnavailable = 1, partition: floor = 0 } = configuration;
  const surge = scaledValue(maxSurge, replicas, 'up');
  const ready = new Set(groups.filter((group) => isGroupReady(group, sizeOf(lws))).map(({ index }) => index));
  let down = 0;
  for (let index = 0; index < replicas; index += 1) if (!ready.has(index)) down += 1;

  const outdated = groups.filter((group) => group.index < replicas && group.leader && group.revision !== revision);
  const isUpdating = outdated.some(({ index }) => index >= floor);
  const wanted = replicas + (isUpdating || (surging && down > 0) ? surge : 0);
  if (outdated.length === 0) return { partition: Math.min(floor, replicas), replicas: wanted };

  const spare = groups.filter(({ index }) => index >= replicas && index < wanted && ready.has(index)).length;
  const allowed = Math.max(surge > 0 ? 0 : 1, scaledValue(maxUnavailable, replicas, 'down')) + spare;
  const byIndex = new Map(groups.map((group) => [group.index, group]));
  let partition = replicas;
  while (partition > floor) {
    const next = byIndex.get(partition - 1);
    const current = next === undefined || next.leader === undefined || next.revision === revision;
    if (!current) {
      // A group that is down anyway costs nothing to replace.
      const cost = ready.has(partition - 1) ? 1 : 0;
      if (down + cost > allowed) break;
      down += cost;
    }
    partition -= 1;
  }
  return { partition, replicas: wanted };
}
