import type { Pod } from '../api/generated/core-v1.ts';
import { keyOf, type ObjectKey, formatKey } from '../api/resource.ts';
import { type Client, type Clock, type Informer, isConflict, isNotFound } from '../machinery/runtime/index.ts';
import { AddressPool } from './addresses.ts';
import { draw } from './draw.ts';
import type { Fleet, SimulatedNode } from './fleet.ts';
import { podType } from '../api/resource-types.ts';
import { observe, type PodSite } from './observe.ts';
import { type MatchedSince, pickStage } from './pick-stage.ts';
import { statusPatch } from './pod-effects.ts';
import { portsConflict, type Rules } from './rules.ts';
import type { PodEffect, Stage } from './stage.ts';
import type { TimerHeap } from './timer-heap.ts';

export const PODS_BY_NODE = 'nodes/by-node';

export interface PlayerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Informer<Pod>;
  readonly fleet: Fleet;
  readonly stages: readonly Stage[];
  readonly rules: Rules;
  readonly seed: number;
  readonly podBlock: string;
}

const nothingYet: MatchedSince = new Map();

/** Advances the pods of the fleet through their stages. */
export class Player {
  readonly #options: PlayerOptions;
  readonly #pool: AddressPool;
  /** What our last write answered, until the informer has caught up with it. */
  readonly #written = new Map<string, Pod>();
  readonly #since = new Map<string, MatchedSince>();

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#pool = new AddressPool(options.podBlock);
  }

  /** Takes note of a pod the informer delivered; answers whether it is ours to play. */
  learn(pod: Pod): boolean {
    if (this.#options.fleet.get(pod.spec?.nodeName) === undefined) return false;
    const { podIP } = pod.status ?? {};
    if (podIP && !pod.spec?.hostNetwork) this.#pool.claim(pod.metadata.uid ?? '', podIP);
    return true;
  }

  forget(pod: Pod): void {
    const key = keyOf(pod);
    this.#written.delete(key);
    this.#since.delete(key);
    this.#pool.release(pod.metadata.uid ?? '');
  }

  /** Plays whatever is due for a pod and sets the timer for what is next. */
  async play(key: ObjectKey, timers: TimerHeap): Promise<void> {
    const { clock, fleet, seed, stages } = this.#options;
    const name = formatKey(key);
    let pod = this.#newest(key);
    while (pod !== undefined) {
      const node = fleet.get(pod.spec?.nodeName);
      if (node === undefined || !node.on) break;
      const { uid = '' } = pod.metadata;
      const now = clock.now();
      const { since, step } = pickStage(stages, observe(pod, this.#site(pod, node, now)), {
        before: this.#since.get(name) ?? nothingYet,
        draw: (stage) => draw(seed, uid, stage),
        now,
      });
      if (step === undefined) break;
      this.#since.set(name, since);
      if (step.due > now) {
        if (step.due < Number.POSITIVE_INFINITY) timers.set(name, step.due);
        return;
      }
      pod = await this.#perform(step.stage.effect, pod, node);
      this.#since.delete(name);
    }
    this.#since.delete(name);
    timers.clear(name);
  }

  /** Answers the pod as it now is; undefined when there is nothing more to do until its next event. */
  async #perform(effect: PodEffect, pod: Pod, node: SimulatedNode): Promise<Pod | undefined> {
    const { client, clock } = this.#options;
    const { name = '', namespace, resourceVersion, uid } = pod.metadata;
    try {
      if (effect === 'remove') {
        await client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
        return undefined;
      }
      const status = statusPatch(effect, pod, this.#site(pod, node, clock.now()));
      if (status === undefined) return undefined;
      const body = { metadata: { uid }, status };
      const answer = await client.patch(
        podType,
        { namespace, name },
        { type: 'strategic', body },
        { subresource: 'status' },
      );
      // A write that changed nothing would be asked for again at once.
      if (answer.metadata.resourceVersion === resourceVersion) return undefined;
      this.#written.set(keyOf(pod), answer);
      return answer;
    } catch (error) {
      // Gone, or replaced by a namesake: its own event brings it back here.
      if (isNotFound(error) || isConflict(error)) return undefined;
      throw error;
    }
  }

  #newest(key: ObjectKey): Pod | undefined {
    const seen = this.#options.pods.get(key);
    const written = this.#written.get(formatKey(key));
    if (seen === undefined || written === undefined) return seen;
    const isAhead =
      written.metadata.uid === seen.metadata.uid &&
      Number(written.metadata.resourceVersion) > Number(seen.metadata.resourceVersion);
    if (isAhead) return written;
    this.#written.delete(formatKey(key));
    return seen;
  }

  #site(pod: Pod, node: SimulatedNode, now: number): PodSite {
    const { pods, rules } = this.#options;
    const pool = this.#pool;
    return {
      now,
      rules,
      hostIP: node.ip,
      get podIP() {
        return pod.status?.podIP || pool.take(pod.metadata.uid ?? '');
      },
      portsTaken: (asking) =>
        pods.byIndex(PODS_BY_NODE, node.name).some((other) => {
          const phase = other.status?.phase;
          const holds = other.status?.startTime !== undefined && phase !== 'Succeeded' && phase !== 'Failed';
          return holds && other.metadata.uid !== asking.metadata.uid && portsConflict(asking, other);
        }),
    };
  }
}
