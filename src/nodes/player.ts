import type { Pod } from '../api/generated/core-v1.ts';
import { keyOf, type ObjectKey, formatKey } from '../api/resource.ts';
import { type Client, type Clock, type Informer, isConflict, isNotFound } from '../machinery/runtime/index.ts';
import { AddressPool } from './addresses.ts';
import { draw } from './draw.ts';
import type { NodeFleet, SimulatedNode } from './fleet.ts';
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
  readonly fleet: NodeFleet;
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
  /** What our last write made of a pod, until the informer has caught up with it. */
  readonly #written = new Map<string, { readonly uid: string | undefined; readonly version: number }>();
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

  /** Plays what is due for a pod, or sets the timer for when it is. The event of a step brings the pod back here. */
  async play(key: ObjectKey, timers: TimerHeap): Promise<void> {
    const { clock, fleet, seed, stages } = this.#options;
    const name = formatKey(key);
    const pod = this.#options.pods.get(key);
    if (pod !== undefined && this.#isBehind(name, pod)) return;
    const node = fleet.get(pod?.spec?.nodeName);
    if (pod !== undefined && node?.on) {
      const { uid = '' } = pod.metadata;
      const now = clock.now();
      const site = this.#site(pod, node, now);
      const { since, step } = pickStage(stages, observe(pod, site), {
        before: this.#since.get(name) ?? nothingYet,
        draw: (stage) => draw(seed, uid, stage),
        clock,
      });
      if (step !== undefined && step.due > now) {
        this.#since.set(name, since);
        if (step.due < Number.POSITIVE_INFINITY) timers.set(name, step.due);
        return;
      }
      if (step !== undefined) await this.#perform(step.stage.effect, pod, site);
    }
    this.#since.delete(name);
    timers.clear(name);
  }

  async #perform(effect: PodEffect, pod: Pod, site: PodSite): Promise<void> {
    const { client } = this.#options;
    const { name = '', namespace, resourceVersion, uid } = pod.metadata;
    try {
      if (effect === 'remove') {
        await client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
        return;
      }
      const status = statusPatch(effect, pod, site);
      if (status === undefined) return;
      const body = { metadata: { uid }, status };
      const answer = await client.patch(
        podType,
        { namespace, name },
        { type: 'strategic', body },
        { subresource: 'status' },
      );
      const written = answer.metadata.resourceVersion;
      // A write that changed nothing has no event to wait for.
      if (written !== resourceVersion) this.#written.set(keyOf(pod), { uid, version: Number(written) });
    } catch (error) {
      // Gone, or replaced by a namesake: its own event brings it back here.
      if (isNotFound(error) || isConflict(error)) return;
      throw error;
    }
  }

  /** Whether the informer has yet to show what we wrote: the pod as it is known would be played twice. */
  #isBehind(name: string, { metadata }: Pod): boolean {
    const written = this.#written.get(name);
    if (written === undefined) return false;
    if (written.uid === metadata.uid && written.version > Number(metadata.resourceVersion)) return true;
    this.#written.delete(name);
    return false;
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
