/** From a pod up to whoever may have asked for groups. */
import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { jobSetType } from '../../../api/jobset/types.ts';
import { groupIndexOf } from '../../../api/lws/pod-marks.ts';
import {
  fromKruise,
  kruiseLeaderWorkerSetType,
  type LeaderWorkerSet,
  leaderWorkerSetType,
  LWS,
} from '../../../api/lws/types.ts';
import { type KubeObject, type ResourceType, splitApiVersion } from '../../../api/resource.ts';
import { jobType, podType, statefulSetType } from '../../../api/resource-types.ts';
import { readGroupLink } from '../../../decisions/disruption/index.ts';
import {
  type GroupAbilities,
  type MakingVerdict,
  wantedByJob,
  wantedByJobSet,
  wantedBySet,
} from '../../../decisions/group-making/index.ts';
import { type Client, type Informers, isForbidden, isNotFound } from '../../../machinery/runtime/index.ts';

export interface OwnerLookup {
  readonly client: Client;
  readonly informers: Informers;
  readonly abilities: GroupAbilities;
  /** Kinds of other software that are served, and so followed. */
  readonly served: readonly ResourceType[];
}

const NOT_ASKED = { reason: 'NotAsked' } as const;

/** The group that a new pod is to join. Owners come from the caches, and are read once where those do not know them. */
export async function verdictOf(lookup: OwnerLookup, pod: Pod): Promise<MakingVerdict> {
  const { namespace } = pod.metadata;
  const owner = controllerOf(pod);
  if (isOf(owner, jobType)) {
    const job = await find(lookup, jobType, namespace, owner);
    return job === undefined ? NOT_ASKED : verdictOfJob(lookup, job);
  }
  if (isOf(owner, statefulSetType)) {
    const set = await find(lookup, statefulSetType, namespace, owner);
    const above = set && controllerOf(set);
    if (above?.kind === 'Pod') return verdictOfWorker(lookup, namespace, above);
    return verdictOfLeader(lookup, pod, above);
  }
  return isLeaderWorkerSet(owner) ? verdictOfLeader(lookup, pod, owner) : NOT_ASKED;
}

/** The group of a Job's pods, which a JobSet above it may have asked for. */
export async function verdictOfJob(lookup: OwnerLookup, job: Job): Promise<MakingVerdict> {
  const above = controllerOf(job);
  if (!isOf(above, jobSetType)) return wantedByJob(job);
  const jobSet = await find(lookup, jobSetType, job.metadata.namespace, above);
  return jobSet === undefined ? NOT_ASKED : wantedByJobSet(jobSet, job, lookup.abilities);
}

async function verdictOfLeader(
  lookup: OwnerLookup,
  pod: Pod,
  reference: OwnerReference | undefined,
): Promise<MakingVerdict> {
  if (!isLeaderWorkerSet(reference)) return NOT_ASKED;
  const { labels, name = '', namespace } = pod.metadata;
  const owner = await findSet(lookup, namespace, reference);
  const label = labels?.[LWS.groupIndex];
  const index = label === undefined ? groupIndexOf(name) : Number(label);
  if (owner === undefined || index === undefined || !Number.isSafeInteger(index)) return NOT_ASKED;
  return wantedBySet(owner, { index, pod }, lookup.abilities);
}

/** Workers belong where their leader is: one that is in no group has started without. */
async function verdictOfWorker(
  lookup: OwnerLookup,
  namespace: string | undefined,
  above: OwnerReference,
): Promise<MakingVerdict> {
  const leader = await find(lookup, podType, namespace, above);
  const owner = leader && controllerOf(leader);
  if (leader === undefined || !isOf(owner, statefulSetType)) return NOT_ASKED;
  const set = await find(lookup, statefulSetType, namespace, owner);
  const verdict = await verdictOfLeader(lookup, leader, set && controllerOf(set));
  if (verdict.reason !== 'Wanted') return verdict;
  return readGroupLink(leader)?.podGroup === verdict.podGroup.metadata.name ? verdict : NOT_ASKED;
}

export type SetOwner = { readonly type: ResourceType; readonly object: LeaderWorkerSet };

async function findSet(
  lookup: OwnerLookup,
  namespace: string | undefined,
  reference: OwnerReference,
): Promise<SetOwner | undefined> {
  if (isOf(reference, leaderWorkerSetType)) {
    const object = await find(lookup, leaderWorkerSetType, namespace, reference);
    return object && { type: leaderWorkerSetType as ResourceType, object };
  }
  const object = await find(lookup, kruiseLeaderWorkerSetType, namespace, reference);
  return object && { type: kruiseLeaderWorkerSetType as ResourceType, object: fromKruise(object) };
}

const isLeaderWorkerSet = (reference: OwnerReference | undefined): reference is OwnerReference =>
  isOf(reference, leaderWorkerSetType) || isOf(reference, kruiseLeaderWorkerSetType);

function isOf<T extends KubeObject>(
  reference: OwnerReference | undefined,
  { group, kind }: ResourceType<T>,
): reference is OwnerReference {
  return reference?.kind === kind && splitApiVersion(reference.apiVersion).group === group;
}

const BUILT_IN = new Set(['', 'apps', 'batch']);

/** The very object that a reference means; undefined where it is gone, or is nothing that we may see. */
async function find<T extends KubeObject>(
  { client, informers, served }: OwnerLookup,
  type: ResourceType<T>,
  namespace: string | undefined,
  { name, uid }: OwnerReference,
): Promise<T | undefined> {
  const isFollowed = BUILT_IN.has(type.group) || served.some(({ group }) => group === type.group);
  if (!isFollowed) return undefined;
  const known = informers.of(type).get({ namespace, name });
  if (known?.metadata.uid === uid) return known;
  try {
    const read = await client.get(type, { namespace, name });
    return read.metadata.uid === uid ? read : undefined;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
