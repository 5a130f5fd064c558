import { podCondition } from '../api/core/pod-state.ts';
import { podType } from '../api/resource-types.ts';
import {
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

interface GroupNote {
  readonly group: StoredPodGroup;
  readonly reason: GroupReason;
  readonly message: string;
}

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

  group(group: StoredPodGroup, reason: GroupReason, message: string): void {
    const condition = group.status?.conditions?.find(({ type }) => type === INITIALLY_SCHEDULED);
    // Once scheduled, always scheduled: the condition tells of the first time.
    if (condition?.status === 'True') return;
    const key = `${group.metadata.namespace}/${group.metadata.name}`;
    const planned = this.#groups.get(key);
    if (planned?.reason === 'Scheduled' && planned.group.metadata.uid === group.metadata.uid) return;
    const same = condition?.reason === reason && condition.message === message;
    if (same && condition.observedGeneration === group.metadata.generation) return;
    this.#groups.set(key, { group, reason, message });
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
    const type = this.#version === 'v1beta1' ? INITIALLY_SCHEDULED : SCHEDULED;
    const status = reason === 'Scheduled' ? 'True' : 'False';
    const others = group.status?.conditions?.filter((condition) => condition.type !== INITIALLY_SCHEDULED) ?? [];
    const old = group.status?.conditions?.find((condition) => condition.type === INITIALLY_SCHEDULED);
    const now = formatTime(this.#context.clock.now());
    const condition = {
      type,
      status,
      reason: reason === 'Scheduled' && this.#version === 'v1alpha1' ? 'MinCountSatisfied' : reason,
      message,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : now,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const body = { metadata: { uid }, status: { conditions: [...others, condition] } };
    await this.#ignoringGone(
      this.#context.client.patch(
        podGroupType(this.#version, this.#apiGroup),
        { namespace, name },
        { type: 'merge', body },
        { subresource: 'status' },
      ),
    );
    if (this.#groups.get(key) === note) this.#groups.delete(key);
    return settled;
  }

  async #ignoringGone(write: Promise<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
