import { podCondition } from '../api/core/pod-state.ts';
import { podType } from '../api/resource-types.ts';
import type { CompositePodGroup } from '../api/generated/scheduling-v1alpha3.ts';
import type { Condition, ObjectMeta } from '../api/generated/meta-v1.ts';
import type { ResourceType } from '../api/resource.ts';
import {
  COMPOSITE_INITIALLY_SCHEDULED,
  compositePodGroupType,
  INITIALLY_SCHEDULED,
  podGroupType,
  SCHEDULED,
  type SchedulingVersion,
  type StoredPodGroup,
} from '../api/scheduling/index.ts';
import {
  type ControllerContext,
  isNotFound,
  type ReconcileResult,
  settled,
  type WorkQueue,
} from '../machinery/runtime/index.ts';
import { formatTime } from '../machinery/values/index.ts';
import type { PodBook } from './pod-book.ts';

/** What the status of a pod without a node should say. */
interface PodNote {
  readonly reason: string;
  readonly message: string;
}

export type GroupReason = 'Scheduled' | 'Unschedulable' | 'SchedulerError';

/** A group of pods, or of groups. */
interface NotedGroup {
  readonly metadata: ObjectMeta;
  readonly conditions: readonly Condition[];
  /** The condition that tells of the first time, as it is read. */
  readonly condition: typeof INITIALLY_SCHEDULED | typeof COMPOSITE_INITIALLY_SCHEDULED;
}

interface GroupNote {
  readonly group: NotedGroup;
  readonly reason: GroupReason;
  readonly message: string;
}

/** Before the name of a composite in the key of its note, where no name of a PodGroup can be. */
const COMPOSITE = '/';

/** Get the uids of pods and the keys of groups that `writePod` and `writeGroup` are to be called with. */
export interface StatusQueues {
  readonly pods: WorkQueue;
  readonly groups: WorkQueue;
}

/**
 * Writes what became of pods and groups, after the fact and off the scheduling path. Only the newest note of each
 * object is written, and only if it says something new.
 */
export class StatusWriter {
  readonly #context: ControllerContext;
  readonly #book: PodBook;
  readonly #pods = new Map<string, PodNote>();
  readonly #nominations = new Map<string, string>();
  readonly #groups = new Map<string, GroupNote>();
  readonly #queues: StatusQueues;
  #version: SchedulingVersion | undefined;
  #apiGroup: string | undefined;

  constructor(context: ControllerContext, book: PodBook, queues: StatusQueues) {
    this.#context = context;
    this.#book = book;
    this.#queues = queues;
  }

  /** The version in which PodGroups are written. */
  useVersion(version: SchedulingVersion | undefined, apiGroup: string): void {
    this.#version = version;
    this.#apiGroup = apiGroup;
  }

  unscheduled(uid: string, note: PodNote): void {
    this.#pods.set(uid, note);
    this.#queues.pods.add(uid);
  }

  /** Publishes, or with an empty name withdraws, the node a pod was promised. */
  nominated(uid: string, node: string): void {
    this.#nominations.set(uid, node);
    this.#queues.pods.add(uid);
  }

  group({ metadata, status }: StoredPodGroup, reason: GroupReason, message: string): void {
    const group = { metadata, conditions: status?.conditions ?? [], condition: INITIALLY_SCHEDULED } as const;
    this.#note(`${metadata.namespace}/${metadata.name}`, { group, reason, message });
  }

  /** Kubernetes declares this condition and leaves it to schedulers. */
  composite({ metadata, status }: CompositePodGroup, reason: GroupReason, message: string): void {
    const group = { metadata, conditions: status?.conditions ?? [], condition: COMPOSITE_INITIALLY_SCHEDULED } as const;
    this.#note(`${metadata.namespace}/${COMPOSITE}${metadata.name}`, { group, reason, message });
  }

  #note(key: string, note: GroupNote): void {
    const { group, message, reason } = note;
    const condition = group.conditions.find(({ type }) => type === group.condition);
    // Once scheduled, always scheduled: the condition tells of the first time.
    if (condition?.status === 'True') return;
    const planned = this.#groups.get(key);
    if (planned?.reason === 'Scheduled' && planned.group.metadata.uid === group.metadata.uid) return;
    const same = condition?.reason === reason && condition.message === message;
    if (same && condition.observedGeneration === group.metadata.generation) return;
    this.#groups.set(key, note);
    this.#queues.groups.add(key);
  }

  async writePod(uid: string): Promise<ReconcileResult> {
    const known = this.#book.get(uid);
    const note = this.#pods.get(uid);
    const nomination = this.#nominations.get(uid);
    this.#pods.delete(uid);
    this.#nominations.delete(uid);
    if (known === undefined || known.standing === 'assigned') return settled;
    const { metadata, status } = known.pod;
    const body: { conditions?: object[]; nominatedNodeName?: string | null } = {};
    if (note !== undefined && known.standing === 'pending') {
      const old = podCondition(known.pod, 'PodScheduled');
      if (old?.status !== 'False' || old.reason !== note.reason || old.message !== note.message) {
        const now = formatTime(this.#context.clock.now());
        const lastTransitionTime = old?.status === 'False' ? (old.lastTransitionTime ?? now) : now;
        body.conditions = [{ type: 'PodScheduled', status: 'False', ...note, lastProbeTime: null, lastTransitionTime }];
      }
    }
    if (nomination !== undefined && (status?.nominatedNodeName ?? '') !== nomination) {
      body.nominatedNodeName = nomination === '' ? null : nomination;
    }
    if (Object.keys(body).length === 0) return settled;
    const patch = { type: 'strategic', body: { metadata: { uid: metadata.uid }, status: body } } as const;
    const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
    await this.#ignoringGone(this.#context.client.patch(podType, key, patch, { subresource: 'status' }));
    return settled;
  }

  async writeGroup(key: string): Promise<ReconcileResult> {
    const note = this.#groups.get(key);
    if (note === undefined || this.#version === undefined) return settled;
    const { group, message, reason } = note;
    const { generation, name = '', namespace, uid } = group.metadata;
    const [kind, type] = this.#written(group.condition, this.#version);
    const status = reason === 'Scheduled' ? 'True' : 'False';
    const others = group.conditions.filter((condition) => condition.type !== group.condition);
    const old = group.conditions.find((condition) => condition.type === group.condition);
    const now = formatTime(this.#context.clock.now());
    const condition = {
      type,
      status,
      reason: reason === 'Scheduled' && kind.version === 'v1alpha1' ? 'MinCountSatisfied' : reason,
      message,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : now,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const body = { metadata: { uid }, status: { conditions: [...others, condition] } };
    const patch = { type: 'merge', body } as const;
    await this.#ignoringGone(this.#context.client.patch(kind, { namespace, name }, patch, { subresource: 'status' }));
    if (this.#groups.get(key) === note) this.#groups.delete(key);
    return settled;
  }

  /** In which kind, and by which name there, a condition is written. */
  #written(condition: NotedGroup['condition'], version: SchedulingVersion): [ResourceType, string] {
    if (condition === COMPOSITE_INITIALLY_SCHEDULED) return [compositePodGroupType(this.#apiGroup), condition];
    return [podGroupType(version, this.#apiGroup), version === 'v1beta1' ? condition : SCHEDULED];
  }

  async #ignoringGone(write: Promise<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
