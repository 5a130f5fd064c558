import { isPodReady } from '../../../api/core/pod-state.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { type Client, type Informer, isNamespaceTerminating, isNotFound } from '../../../machinery/runtime/index.ts';
import { type Expectations, type ReadYourWrites, type PodControl, slowStart } from '../../shared/pod-control/index.ts';
import type { JobGroup } from './ensure-group.ts';
import { isTracked, TRACKING_FINALIZER } from './pod-facts.ts';
import { jobPod } from './pod-template.ts';
import type { SizeVerdict } from './size.ts';

export interface PodWriterDeps {
  readonly client: Client;
  readonly control: PodControl;
  readonly pods: Informer<Pod>;
  readonly expectations: Expectations;
  readonly writes: ReadYourWrites;
}

export interface ResizeOutcome {
  readonly created: number;
  readonly removed: number;
  readonly removedReady: number;
  readonly failure: unknown;
}

const nothingDone: ResizeOutcome = { created: 0, removed: 0, removedReady: 0, failure: undefined };

/** Carries out what was decided about a Job's pods. */
export class PodWriter {
  readonly #deps: PodWriterDeps;

  constructor(deps: PodWriterDeps) {
    this.#deps = deps;
  }

  async resize(
    job: Job,
    verdict: SizeVerdict,
    { awaitingRetry, group }: { awaitingRetry: ReadonlyMap<number, Pod>; group: JobGroup | undefined },
  ): Promise<ResizeOutcome> {
    if (verdict.reason === 'TooFewPods') {
      const replaced = (index: number | undefined) => (index === undefined ? undefined : awaitingRetry.get(index));
      return this.#create(
        job,
        verdict.create.map((index) => jobPod(job, { group, index, replaces: replaced(index) })),
      );
    }
    if (!('remove' in verdict)) return nothingDone;
    this.#deps.expectations.expectDeletions(keyOf(job), verdict.remove.map(keyOf));
    // The finalizer goes first: a pod that is merely not wanted is no failure and must not be counted as one.
    return this.#remove(job, verdict.remove, { untrack: true });
  }

  /** Deletes pods of a Job that is to end; they stay tracked until counted. */
  removeAll(job: Job, pods: readonly Pod[]): Promise<ResizeOutcome> {
    return this.#remove(job, pods, { untrack: false });
  }

  /** Takes the finalizer off pods whose outcome is written down. */
  async release(job: Job, pods: readonly Pod[]): Promise<{ kept: Pod[]; failure: unknown }> {
    const kept: Pod[] = [];
    let failure: unknown;
    await Promise.all(
      pods.map(async (pod) => {
        try {
          await this.#untrack(job, pod);
        } catch (error) {
          kept.push(pod);
          failure = error;
        }
      }),
    );
    return { kept, failure };
  }

  async #create(job: Job, pods: readonly Pod[]): Promise<ResizeOutcome> {
    const { control, expectations, pods: cache, writes } = this.#deps;
    const key = keyOf(job);
    expectations.expectCreations(key, pods.length);
    let unseen = 0;
    const { errors, successes } = await slowStart(pods.length, async (index) => {
      try {
        writes.record(key, cache, await control.create(pods[index] as Pod, job));
      } catch (error) {
        // Nothing can be created in a namespace that goes away, and nothing needs to be.
        if (!isNamespaceTerminating(error)) throw error;
        unseen += 1;
      }
    });
    const missing = pods.length - successes + unseen;
    if (missing > 0) expectations.creationObserved(key, missing);
    return { ...nothingDone, created: successes - unseen, failure: errors[0] };
  }

  async #remove(job: Job, pods: readonly Pod[], { untrack }: { untrack: boolean }): Promise<ResizeOutcome> {
    const { control, expectations } = this.#deps;
    let removed = 0;
    let removedReady = 0;
    let failure: unknown;
    await Promise.all(
      pods.map(async (pod) => {
        try {
          if (untrack) await this.#untrack(job, pod);
          await control.delete(pod, job);
          removed += 1;
          if (isPodReady(pod)) removedReady += 1;
        } catch (error) {
          expectations.deletionObserved(keyOf(job), keyOf(pod));
          failure = error;
        }
      }),
    );
    return { ...nothingDone, removed, removedReady, failure };
  }

  async #untrack(job: Job, pod: Pod): Promise<void> {
    if (!isTracked(pod)) return;
    const { client, pods, writes } = this.#deps;
    const { name = '', namespace, uid } = pod.metadata;
    const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } };
    try {
      const written = await client.patch(podType, { namespace, name }, { type: 'strategic', body });
      writes.record(keyOf(job), pods, written);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
