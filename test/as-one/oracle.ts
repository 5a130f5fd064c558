/** Recounts from the watch alone what became of a gang whose members may only be disrupted together. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';

interface Member {
  readonly uid: string;
  /** The revision at which it was first told to go: it is being deleted, or gone. */
  leftAt?: number;
  /** The revision at which it was first marked. */
  markedAt?: number;
  ready: boolean;
}

export interface GangSeen {
  /** What was seen that may not be. */
  readonly violations: readonly string[];
  /** How often all of a generation went. */
  readonly times: number;
  /** Members that are there, Ready and not going. */
  readonly whole: number;
}

export class GangWatch {
  readonly #members = new Map<string, Member>();
  readonly #end = new AbortController();
  readonly #size: number;
  readonly #inTransactions: boolean;

  constructor(options: { size: number; inTransactions: boolean }) {
    this.#size = options.size;
    this.#inTransactions = options.inTransactions;
  }

  async follow(client: Client, name: string): Promise<void> {
    const options = { namespace: 'default', labelSelector: `app=${name}`, signal: this.#end.signal };
    const { items, metadata } = await client.list(podType, options);
    for (const pod of items) this.#see(pod, false);
    void this.#watch(client, { ...options, resourceVersion: metadata?.resourceVersion ?? '' });
  }

  stop(): void {
    this.#end.abort();
  }

  async #watch(client: Client, options: Parameters<Client['watch']>[1]): Promise<void> {
    try {
      for await (const { object, type } of client.watch(podType, options)) this.#see(object, type === 'DELETED');
    } catch (error) {
      if (!this.#end.signal.aborted) throw error;
    }
  }

  #see({ metadata, status }: Pod, isGone: boolean): void {
    const { deletionTimestamp, resourceVersion, uid = '' } = metadata;
    const at = Number(resourceVersion);
    const is = (wanted: string): boolean =>
      status?.conditions?.some((one) => one.type === wanted && one.status === 'True') === true;
    const member: Member = this.#members.get(uid) ?? { uid, ready: false };
    this.#members.set(uid, member);
    if (isGone || deletionTimestamp !== undefined) member.leftAt ??= at;
    if (is('DisruptionTarget')) member.markedAt ??= at;
    member.ready = !isGone && deletionTimestamp === undefined && is('Ready');
  }

  /** Generations are told apart by who was there when the first of them left. */
  result(): GangSeen {
    const all = [...this.#members.values()];
    const left = all.filter((one) => one.leftAt !== undefined);
    const violations: string[] = [];
    const [first, last] = span(left.map(({ leftAt = 0 }) => leftAt));
    if (this.#inTransactions && left.length > 0 && last - first !== left.length - 1) {
      violations.push(`${left.length} members left between the revisions ${first} and ${last}: not at once`);
    }
    const unmarked = left.filter(({ markedAt = Number.POSITIVE_INFINITY }) => markedAt > first);
    if (!this.#inTransactions && unmarked.length > 0) {
      violations.push(`${unmarked.length} members were not marked when the first left`);
    }
    if (left.length % this.#size !== 0) violations.push(`${left.length} members went, of groups of ${this.#size}`);
    return {
      violations,
      times: left.length / this.#size,
      whole: all.filter(({ ready }) => ready).length,
    };
  }
}

const span = (numbers: readonly number[]): readonly [number, number] =>
  numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)];
