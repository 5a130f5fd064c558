/**
 * Requests of one priority level that wait, in queues that take turns. A flow (what one user asks for, say) may wait in a
 * few of the queues only, its hand, so that a flow with thousands of requests leaves the others' queues short. Whose turn
 * it is goes by cost: of the requests at the heads of the queues, the one comes first that would be done first if all
 * queues were worked on at the same pace.
 */
import type { QueuingConfiguration } from '../../api/generated/flowcontrol-v1.ts';

export interface Waiting {
  /** Whose it is: requests of one flow wait in the same few queues. */
  readonly flow: string;
  /** How much of the thread it is expected to take. */
  readonly cost: number;
  readonly seats: number;
}

interface Queue<T> {
  readonly requests: T[];
  /** Virtual time at which the request at its head could begin. */
  start: number;
}

const HANDS_KEPT = 4096;

export class FairQueues<T extends Waiting> {
  readonly #queues: Queue<T>[] = [];
  readonly #handSize: number;
  readonly #lengthLimit: number;
  readonly #hands = new Map<string, readonly number[]>();
  readonly #busy = new Set<Queue<T>>();
  /** Virtual time: when the request that went last began. */
  #now = 0;
  #length = 0;

  constructor({ queues = 1, handSize = 1, queueLengthLimit = 1 }: QueuingConfiguration) {
    // Queues are made when they are needed: there may be millions of them.
    this.#queues.length = queues;
    this.#handSize = Math.min(handSize, queues);
    this.#lengthLimit = queueLengthLimit;
  }

  get length(): number {
    return this.#length;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { requests } of this.#busy) yield* requests;
  }

  /** Into the shortest queue of the flow's hand; false where that is full. */
  add(request: T): boolean {
    let shortest: Queue<T> | undefined;
    for (const index of this.#handOf(request.flow)) {
      const queue = (this.#queues[index] ??= { requests: [], start: 0 });
      if (shortest === undefined || queue.requests.length < shortest.requests.length) shortest = queue;
    }
    if (shortest === undefined || shortest.requests.length >= this.#lengthLimit) return false;
    if (shortest.requests.length === 0) {
      shortest.start = Math.max(shortest.start, this.#now);
      this.#busy.add(shortest);
    }
    shortest.requests.push(request);
    this.#length += 1;
    return true;
  }

  /** Whose turn it is; it stays where it is. */
  peek(): T | undefined {
    return this.#first()?.requests[0];
  }

  take(): T | undefined {
    const queue = this.#first();
    const request = queue?.requests.shift();
    if (queue === undefined || request === undefined) return undefined;
    this.#now = queue.start;
    queue.start += request.cost;
    this.#left(queue);
    return request;
  }

  /** One that gave up. */
  remove(request: T): boolean {
    for (const queue of this.#busy) {
      const at = queue.requests.indexOf(request);
      if (at < 0) continue;
      queue.requests.splice(at, 1);
      this.#left(queue);
      return true;
    }
    return false;
  }

  #left(queue: Queue<T>): void {
    this.#length -= 1;
    if (queue.requests.length === 0) this.#busy.delete(queue);
  }

  #first(): Queue<T> | undefined {
    let first: Queue<T> | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const queue of this.#busy) {
      const done = queue.start + (queue.requests[0]?.cost ?? 0);
      if (done >= least) continue;
      least = done;
      first = queue;
    }
    return first;
  }

  #handOf(flow: string): readonly number[] {
    let hand = this.#hands.get(flow);
    if (hand === undefined) {
      if (this.#hands.size >= HANDS_KEPT) this.#hands.clear();
      hand = dealHand(flow, this.#queues.length, this.#handSize);
      this.#hands.set(flow, hand);
    }
    return hand;
  }
}

/** The same few queues for the same flow, spread as by chance. */
export function dealHand(flow: string, deck: number, size: number): readonly number[] {
  let state = 0x811c9dc5;
  for (let at = 0; at < flow.length; at += 1) state = Math.imul(state ^ flow.charCodeAt(at), 0x01000193);
  const hand = new Set<number>();
  while (hand.size < size) {
    // Mulberry32: every step mixes all bits.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    hand.add(((mixed ^ (mixed >>> 14)) >>> 0) % deck);
  }
  return [...hand];
}
