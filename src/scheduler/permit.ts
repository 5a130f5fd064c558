import type { Clock } from '../machinery/runtime/index.ts';
import type { KnownPod, PodBook } from './pod-book.ts';

const LONGEST_WAIT_MS = 5 * 60_000;

export interface PermitOptions {
  readonly clock: Clock;
  readonly book: PodBook;
  /** Members a group must have placed before any is bound; undefined when it asks for none. */
  readonly neededBy: (group: string, member: KnownPod) => number | undefined;
  /** Whether the tree that the pod's group is part of has enough groups with a place. */
  readonly isTreePlaced?: ((known: KnownPod) => boolean) | undefined;
  readonly bind: (known: KnownPod) => void;
  /** The wait is over without the group: the pod gave its place back. */
  readonly expire: (known: KnownPod) => void;
}

/**
 * The last gate before binding: no member of a gang is bound while fewer than its minimum have a place. Placement is
 * all or none, so members wait here only when one of them was lost on the way.
 */
export class Permit {
  readonly #options: PermitOptions;
  readonly #waiting = new Map<string, Map<KnownPod, () => void>>();

  constructor(options: PermitOptions) {
    this.#options = options;
  }

  isWaiting(known: KnownPod): boolean {
    return this.#waiting.get(known.group ?? '')?.has(known) === true;
  }

  /** Whether the pod may be bound now. */
  allows(known: KnownPod): boolean {
    const { book, isTreePlaced, neededBy } = this.#options;
    if (known.group === undefined) return true;
    const needed = neededBy(known.group, known);
    if (needed === undefined) return true;
    const placed = book.members(known.group).filter(({ standing }) => standing !== 'pending').length;
    return placed >= needed && (isTreePlaced?.(known) ?? true);
  }

  /** Binds the pod, or keeps it waiting for its group. */
  pass(known: KnownPod): void {
    if (this.allows(known)) this.#options.bind(known);
    else this.#wait(known);
  }

  /** A member was placed or the group changed: whoever waits may have become free to go. */
  review(group: string): void {
    const waiting = this.#waiting.get(group);
    if (waiting === undefined) return;
    for (const [known, cancel] of waiting) {
      if (!this.allows(known)) return;
      cancel();
      waiting.delete(known);
      this.#options.bind(known);
    }
    this.#waiting.delete(group);
  }

  /** The pod is gone or no longer assumed. */
  drop(known: KnownPod): void {
    const waiting = this.#waiting.get(known.group ?? '');
    waiting?.get(known)?.();
    waiting?.delete(known);
    if (waiting?.size === 0) this.#waiting.delete(known.group ?? '');
  }

  #wait(known: KnownPod): void {
    const group = known.group ?? '';
    const waiting = this.#waiting.get(group) ?? new Map<KnownPod, () => void>();
    if (waiting.has(known)) return;
    const cancel = this.#options.clock.after(LONGEST_WAIT_MS, () => {
      this.drop(known);
      this.#options.expire(known);
    });
    waiting.set(known, cancel);
    this.#waiting.set(group, waiting);
  }
}
