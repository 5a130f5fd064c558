import { podCondition } from '../api/core/pod-state.ts';
import { podType } from '../api/resource-types.ts';
import {
  type ControllerContext,
  type EventRecorder,
  isNotFound,
  type ReconcileResult,
  settled,
  type WorkQueue,
} from '../machinery/runtime/index.ts';
import { formatTime } from '../machinery/values/index.ts';
import type { KnownPod, PodBook } from './pod-book.ts';

interface Sentence {
  /** What takes the place, for the event. */
  readonly by: string;
  readonly schedulerName: string;
}

/** Removes pods that others are more important than: says so on the pod, then deletes it. */
export class Victims {
  readonly #context: ControllerContext;
  readonly #events: EventRecorder;
  readonly #book: PodBook;
  readonly #sentences = new Map<string, Sentence>();
  readonly #queue: WorkQueue;

  /** `queue` gets the uids of pods that `remove` is to be called with. */
  constructor(context: ControllerContext, events: EventRecorder, book: PodBook, queue: WorkQueue) {
    this.#context = context;
    this.#events = events;
    this.#book = book;
    this.#queue = queue;
  }

  add(known: KnownPod, sentence: Sentence): void {
    this.#sentences.set(known.facts.uid, sentence);
    this.#queue.add(known.facts.uid);
  }

  async remove(uid: string): Promise<ReconcileResult> {
    const sentence = this.#sentences.get(uid);
    const known = this.#book.get(uid);
    if (sentence === undefined || known === undefined || known.pod.metadata.deletionTimestamp) {
      this.#sentences.delete(uid);
      return settled;
    }
    const { client, clock } = this.#context;
    const { metadata } = known.pod;
    const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
    try {
      if (podCondition(known.pod, 'DisruptionTarget')?.status !== 'True') {
        const condition = {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'PreemptionByScheduler',
          message: `${sentence.schedulerName}: preempting to accommodate a higher priority pod`,
          lastProbeTime: null,
          lastTransitionTime: formatTime(clock.now()),
        };
        const body = { metadata: { uid: metadata.uid }, status: { conditions: [condition] } };
        await client.patch(podType, key, { type: 'strategic', body }, { subresource: 'status' });
      }
      await client.delete(podType, key, { preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#sentences.delete(uid);
    this.#events.record(known.pod, 'Normal', 'Preempted', `Preempted by ${sentence.by} on node ${known.node ?? ''}`);
    return settled;
  }
}
