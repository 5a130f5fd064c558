/** What becomes of groups that were made, as their owners change. */
import { isControlledBy } from '../../../api/core/owner.ts';
import { isPodFinished, isPodReady } from '../../../api/core/pod-state.ts';
import { isJobFinished } from '../../../api/batch/job-state.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PodGroup, Workload } from '../../../api/generated/scheduling-v1beta1.ts';
import { LWS } from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { readGroupLink } from '../../../decisions/disruption/index.ts';
import {
  decideSetGang,
  minimumOfReplica,
  wantedBySet,
  type WantedGroup,
} from '../../../decisions/group-making/index.ts';
import {
  type Client,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { ownedBy } from '../../shared/pod-control/index.ts';
import { setGroupMinimum, setWorkloadMinimum } from '../../shared/workload-groups/index.ts';
import { type ClusterGroupMaker, isMade } from './maker.ts';
import { type OwnerLookup, type SetOwner, verdictOfJob } from './owners.ts';

export interface TendDeps {
  readonly client: Client;
  readonly lookup: OwnerLookup;
  readonly maker: ClusterGroupMaker;
  /** Indexed by set under `lws`, and under `group` by the PodGroup that they name. */
  readonly pods: Informer<Pod>;
}

/** Moves the minimum with the Job's parallelism, and makes a group again that went while pods of it run. */
export async function tendJob(deps: TendDeps, job: Job): Promise<ReconcileResult> {
  if (isJobFinished(job) || job.metadata.deletionTimestamp) return settled;
  const wanted = await verdictOfJob(deps.lookup, job);
  if (wanted.reason !== 'Wanted') return settled;
  await keep(deps, wanted);
  const { gang } = wanted.podGroup.spec?.schedulingPolicy ?? {};
  const isOnlyOne = isControlledBy(wanted.workload, job);
  await setMinimum(deps, wanted, { minCount: gang?.minCount, withWorkload: isOnlyOne });
  return settled;
}

/**
 * Keeps the groups of a set's replicas: those of replicas that are gone go after the last pod, and where workers wait
 * for their leader the minimum is raised once it is ready.
 */
export async function tendSet(deps: TendDeps, owner: SetOwner): Promise<ReconcileResult> {
  const { object: set } = owner;
  if (set.metadata.deletionTimestamp) return settled;
  const key = `${set.metadata.namespace}/${set.metadata.name}`;
  const pods = deps.pods.byIndex('lws', key);
  const named = new Set(pods.map((pod) => readGroupLink(pod)?.podGroup));
  const { minCount } = { minCount: undefined, ...decideSetGang(set) };
  for (const leader of pods.filter(isLeader)) {
    const index = Number(leader.metadata.labels?.[LWS.groupIndex]);
    const wanted = wantedBySet(owner, { index, pod: leader }, deps.maker.abilities);
    const isMember = wanted.reason === 'Wanted' && wanted.podGroup.metadata.name === readGroupLink(leader)?.podGroup;
    if (!isMember) continue;
    await keep(deps, wanted);
    const workers = pods.filter((pod) => pod !== leader && pod.metadata.labels?.[LWS.groupIndex] === String(index));
    const now = { hasWorkers: workers.length > 0, isReady: isPodReady(leader) };
    await setMinimum(deps, wanted, { minCount: minimumOfReplica(set, leader, now), withWorkload: false });
  }
  const replicas = set.spec?.replicas ?? 1;
  for (const group of ownedBy(deps.maker.podGroups, { metadata: set.metadata }).filter(isMade)) {
    const index = Number(group.metadata.labels?.[LWS.groupIndex]);
    const isOver = index >= replicas || minCount === undefined;
    if (isOver && !named.has(group.metadata.name) && !group.metadata.deletionTimestamp) await remove(deps, group);
  }
  return settled;
}

const isLeader = ({ metadata }: Pod): boolean =>
  metadata.labels?.[LWS.workerIndex] === '0' && !metadata.deletionTimestamp;

/** Nothing protects kinds of ours from being deleted while pods name them, so they are made again. */
async function keep({ maker, pods }: TendDeps, { podGroup, ...wanted }: WantedGroup): Promise<void> {
  const { name = '', namespace } = podGroup.metadata;
  if (maker.kinds.isNative || maker.podGroups.get({ namespace, name }) !== undefined) return;
  const isNamed = pods.byIndex('group', `${namespace}/${name}`).some((pod) => !isPodFinished(pod));
  if (isNamed) await maker.ensure({ podGroup, ...wanted });
}

interface Minimum {
  readonly minCount: number | undefined;
  readonly withWorkload: boolean;
}

async function setMinimum(
  { client, maker }: TendDeps,
  { podGroup, workload }: WantedGroup,
  { minCount, withWorkload }: Minimum,
): Promise<void> {
  const { abilities, podGroups, workloads } = maker;
  if (!abilities.mutableMinimum) return;
  const find = <T extends PodGroup | Workload>(informer: Informer<T>, { metadata }: T): T | undefined => {
    const found = informer.get({ namespace: metadata.namespace, name: metadata.name ?? '' });
    return found !== undefined && isMade(found) && !found.metadata.deletionTimestamp ? found : undefined;
  };
  const writer = { client, podGroups, workloads };
  const [group, above] = [find(podGroups, podGroup), find(workloads, workload)];
  if (above !== undefined && withWorkload) await setWorkloadMinimum(writer, above, minCount);
  if (group !== undefined) await setGroupMinimum(writer, group, minCount);
}

async function remove({ client, maker }: TendDeps, { metadata }: PodGroup): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  const type = maker.kinds.podGroup as ResourceType;
  await client.delete(type, { namespace, name }, { preconditions: { uid } }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
