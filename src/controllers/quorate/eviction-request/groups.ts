import { isPodActive } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { GroupEvictionSpec } from '../../../api/quorate/group-eviction.ts';
import { gatherBudgets } from '../../../cluster-state/index.ts';
import { type NoticeQuestion, readPod, setGroupOf } from '../../../decisions/disruption/index.ts';
import { isMember } from '../../../decisions/group-eviction/index.ts';
import { groupOf } from '../../../decisions/maintenance/index.ts';
import { responderOf } from '../../../decisions/notice/index.ts';
import type { Client, Clock } from '../../../machinery/runtime/index.ts';

/** How old what is known of a namespace may be: many pods of it are often asked for at once. */
const LOOK_MS = 2000;

interface Look {
  readonly at: number;
  readonly groups: Promise<GroupsOfPods>;
}

interface GroupsOfPods {
  /** It was there when this was read. */
  readonly knows: (pod: Pod) => boolean;
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

/**
 * The groups that pods are in, whether a budget counts them or not, and who wants them to be told first. Read once for
 * many that are asked for at once; never without the pod in question, or before the last change of a policy.
 */
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

  /** Something was changed there that is not to be missed. */
  forget(namespace: string): void {
    this.#looks.delete(namespace);
  }

  async #look(pod: Pod): Promise<GroupsOfPods> {
    const { namespace = '' } = pod.metadata;
    const known = await this.#lookInto(namespace);
    if (known.knows(pod)) return known;
    this.forget(namespace);
    return this.#lookInto(namespace);
  }

  #lookInto(namespace: string): Promise<GroupsOfPods> {
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
  const known = new Set(state.pods.map(({ metadata }) => metadata.uid));
  return {
    knows: ({ metadata }) => known.has(metadata.uid),
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
