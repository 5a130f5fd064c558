import { isPodActive, isPodReady } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionType } from '../../../api/lifecycle/index.ts';
import { EVICTED, type GroupEvictionSpec, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { gatherBudgets } from '../../../cluster-state/index.ts';
import { setGroupOf } from '../../../decisions/disruption/index.ts';
import { goesTogether } from '../../../decisions/eviction-requests/index.ts';
import { groupOf } from '../../../decisions/maintenance/index.ts';
import { ApiError, type Client, type Clock } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';

/** How old what is known of a namespace may be: many pods of it are often asked for at once. */
const LOOK_MS = 2000;

interface Look {
  readonly at: number;
  readonly groups: Promise<(pod: Pod) => GroupSeen | undefined>;
}

export interface GroupSeen {
  readonly id: string;
  readonly spec: GroupEvictionSpec;
  readonly whole: boolean;
  readonly minCount: number;
  /** Those that are not on their way out. */
  readonly members: readonly Pod[];
}

/** The groups that pods are in, whether a budget counts them or not. */
export class GroupLooks {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #looks = new Map<string, Look>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async find(pod: Pod): Promise<GroupSeen | undefined> {
    const { namespace = '' } = pod.metadata;
    const now = this.#clock.now();
    for (const [at, look] of this.#looks) if (now - look.at >= LOOK_MS) this.#looks.delete(at);
    let look = this.#looks.get(namespace);
    if (look === undefined) {
      look = { at: now, groups: lookAt(this.#client, namespace, now) };
      this.#looks.set(namespace, look);
      look.groups.catch(() => this.#looks.delete(namespace));
    }
    return (await look.groups)(pod);
  }
}

async function lookAt(client: Client, namespace: string, now: number): Promise<(pod: Pod) => GroupSeen | undefined> {
  const state = await gatherBudgets(client, { namespace, now });
  const every = state.everyGroup();
  const active = state.pods.filter(isPodActive);
  const unitOf = (pod: Pod): { name: string; minCount?: number; whole: boolean } | undefined => {
    const name = pod.metadata.name ?? '';
    const view = every.ask(namespace, name, now)?.views.find(({ unit }) => unit !== undefined);
    const unit = view && every.unitName(namespace, name, view.budget.name);
    if (view?.unit !== undefined && unit !== undefined) {
      return { name: unit, minCount: view.unit.minCount, whole: view.unit.others !== undefined };
    }
    const set = setGroupOf(pod.metadata.labels);
    return set === undefined ? undefined : { name: set, whole: false };
  };
  return (pod) => {
    const unit = unitOf(pod);
    const id = `${namespace}/${unit?.name ?? ''}`;
    const named = unit && groupOf(id);
    if (unit === undefined || named === undefined) return undefined;
    const members = active.filter((other) => unitOf(other)?.name === unit.name);
    // A group of a LeaderWorkerSet that nothing else describes needs all its pods.
    return { id, spec: named.spec, whole: unit.whole, minCount: unit.minCount ?? members.length, members };
  };
}

/** Whether pods that are asked for go with all of their group. */
export function isTogether({ members, minCount, whole }: GroupSeen, isAsked: (uid: string) => boolean): boolean {
  const healthy = members.filter(isPodReady);
  const asked = healthy.filter(({ metadata }) => isAsked(metadata.uid ?? '')).length;
  return goesTogether({ asked, healthy: healthy.length, minCount, whole });
}

/**
 * Asks for a group as one. The name is that of these very pods, so that all who ask for one of them join the same
 * GroupEviction, and a group that was made again gets another. Undefined when it was granted, else why not.
 */
export async function askForGroup(
  client: Client,
  { id, members, spec }: GroupSeen,
  causes: readonly Eviction[],
): Promise<string | undefined> {
  const namespace = id.split('/')[0] ?? '';
  const uids = members.map(({ metadata }) => metadata.uid ?? '').sort();
  const name = `eviction-requests-${nameHash([id, ...uids].join(' '))}`;
  const ownerReferences = causes.map(({ metadata }) => ({
    apiVersion: apiVersionOf(evictionType),
    kind: evictionType.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
  }));
  try {
    await client.create(groupEvictionType, { metadata: { name, namespace, ownerReferences }, spec });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // None of its pods runs any more.
    if (error.code === 404) return undefined;
    if (error.code !== 409) return error.message;
  }
  const made = await client.get(groupEvictionType, { namespace, name });
  const told = made.status?.conditions?.find(({ type }) => type === EVICTED);
  if (told?.status !== 'False') return undefined;
  // Budgets had changed their mind before it was carried out: it is asked for anew.
  await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid: made.metadata.uid } });
  return told.message;
}
