import { isPodActive, isPodReady } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionType } from '../../../api/lifecycle/index.ts';
import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionSpec,
  groupEvictionType,
  NOTICED,
} from '../../../api/quorate/group-eviction.ts';
import { ORIGIN_LABEL } from '../../../api/quorate/notice.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { gatherBudgets } from '../../../cluster-state/index.ts';
import { type NoticeQuestion, readPod, setGroupOf } from '../../../decisions/disruption/index.ts';
import { goesTogether, type TryAnswer } from '../../../decisions/eviction-requests/index.ts';
import { isMember } from '../../../decisions/group-eviction/index.ts';
import { groupOf } from '../../../decisions/maintenance/index.ts';
import { responderOf } from '../../../decisions/notice/index.ts';
import { ApiError, type Client, type Clock } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';

/** How old what is known of a namespace may be: many pods of it are often asked for at once. */
const LOOK_MS = 2000;

interface Look {
  readonly at: number;
  readonly groups: Promise<GroupsOfPods>;
}

interface GroupsOfPods {
  readonly find: (pod: Pod) => GroupSeen | undefined;
  readonly responderOf: (pod: Pod) => string | undefined;
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
    return (await this.#look(pod)).find(pod);
  }

  /** Who speaks for the group of a pod when it is told before it goes. */
  async responderOf(pod: Pod): Promise<string | undefined> {
    return (await this.#look(pod)).responderOf(pod);
  }

  #look({ metadata: { namespace = '' } }: Pod): Promise<GroupsOfPods> {
    const now = this.#clock.now();
    for (const [at, look] of this.#looks) if (now - look.at >= LOOK_MS) this.#looks.delete(at);
    let look = this.#looks.get(namespace);
    if (look === undefined) {
      look = { at: now, groups: lookAt(this.#client, namespace, now) };
      this.#looks.set(namespace, look);
      look.groups.catch(() => this.#looks.delete(namespace));
    }
    return look.groups;
  }
}

async function lookAt(client: Client, namespace: string, now: number): Promise<GroupsOfPods> {
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
  const noticeOn = (pod: Pod): NoticeQuestion | undefined => state.index.noticeOn(namespace, pod.metadata.name ?? '');
  return {
    find(pod) {
      const unit = unitOf(pod);
      const id = `${namespace}/${unit?.name ?? ''}`;
      const named = unit && groupOf(id);
      if (unit === undefined || named === undefined) return underNotice(namespace, active, noticeOn(pod));
      const members = active.filter((other) => unitOf(other)?.name === unit.name);
      // A group of a LeaderWorkerSet that nothing else describes needs all its pods.
      return { id, spec: named.spec, whole: unit.whole, minCount: unit.minCount ?? members.length, members };
    },
    responderOf(pod) {
      const policy = noticeOn(pod)?.policy;
      return policy && responderOf(policy.terms);
    },
  };
}

/**
 * Others, pods on their own among them, are asked for as a group where that is told first: who asks can then take it back.
 * Undefined: the pod goes like any other.
 */
function underNotice(
  namespace: string,
  active: readonly Pod[],
  question: NoticeQuestion | undefined,
): GroupSeen | undefined {
  if (question?.policy === undefined || !question.disrupts) return undefined;
  const { group, target: spec } = question;
  const members = active.filter((pod) => isMember(spec, readPod(pod)));
  return { id: `${namespace}/${group}`, spec, whole: false, minCount: members.length, members };
}

/** Whether pods that are asked for go with all of their group. */
export function isTogether({ members, minCount, whole }: GroupSeen, isAsked: (uid: string) => boolean): boolean {
  const healthy = members.filter(isPodReady);
  const asked = healthy.filter(({ metadata }) => isAsked(metadata.uid ?? '')).length;
  return goesTogether({ asked, healthy: healthy.length, minCount, whole });
}

/**
 * Asks for a group as one. The name is that of these very pods, so that all who ask for one of them join the same
 * GroupEviction, and a group that was made again gets another.
 */
export async function askForGroup(
  client: Client,
  { id, members, spec }: GroupSeen,
  causes: readonly Eviction[],
): Promise<TryAnswer> {
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
    const labels = { [ORIGIN_LABEL]: 'eviction-request' };
    return grantOf(
      await client.create(groupEvictionType, { metadata: { name, namespace, labels, ownerReferences }, spec }),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // None of its pods runs any more.
    if (error.code === 404) return {};
    if (error.code !== 409) return { refused: error.message };
  }
  const made = await client.get(groupEvictionType, { namespace, name });
  const told = made.status?.conditions?.find(({ type }) => type === EVICTED);
  if (told?.status === 'False') {
    // It was not carried out, or was taken back: it is asked for anew.
    await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid: made.metadata.uid } });
    return { refused: told.message };
  }
  const added = ownerReferences.filter(({ uid }) => !made.metadata.ownerReferences?.some((one) => one.uid === uid));
  if (told !== undefined || added.length === 0) return grantOf(made);
  // While one of them is asked for it is wanted.
  const { ownerReferences: before = [], resourceVersion } = made.metadata;
  const body = { metadata: { resourceVersion, ownerReferences: [...before, ...added] } };
  return grantOf(await client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body }));
}

function grantOf({ status }: GroupEviction): TryAnswer {
  const isTold = status?.notice !== undefined || status?.joined !== undefined;
  const noticed = isTold ? status?.conditions?.find(({ type }) => type === NOTICED) : undefined;
  return noticed === undefined ? {} : { granted: `its group is told first: ${noticed.message ?? ''}` };
}
