import type { Clock } from '../machinery/runtime/index.ts';

interface Entry {
  /** As it was asked for. */
  readonly wanted: number;
  /** Of elapsed time: a clock that is set neither wakes anybody nor lets them sleep on. */
  readonly due: number;
  readonly order: number;
  readonly key: string;
}

/** Wakes keys at their due times with a single timer of the clock. Setting a key again replaces its time. */
export class TimerHeap {
  readonly #clock: Clock;
  readonly #wake: (key: string) => void;
  readonly #heap: Entry[] = [];
  readonly #current = new Map<string, Entry>();
  #order = 0;
  #armed: { due: number; cancel: () => void } | undefined;

  constructor(clock: Clock, wake: (key: string) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  get size(): number {
    return this.#current.size;
  }

  set(key: string, wanted: number): void {
    if (this.#current.get(key)?.wanted === wanted) return;
    const due = wanted - this.#clock.now() + this.#clock.elapsed();
    const entry = { wanted, due, order: this.#order++, key };
    this.#current.set(key, entry);
    this.#push(entry);
    this.#arm();
  }

  clear(key: string): void {
    // The heap entry stays behind and is skipped when its time comes.
    this.#current.delete(key);
  }

  close(): void {
    this.#armed?.cancel();
    this.#current.clear();
    this.#heap.length = 0;
  }

  #fire(): void {
    this.#armed = undefined;
    const now = this.#clock.elapsed();
    for (let top = this.#heap[0]; top !== undefined && top.due <= now; top = this.#heap[0]) {
      this.#pop();
      if (this.#current.get(top.key) !== top) continue;
      this.#current.delete(top.key);
      this.#wake(top.key);
    }
    this.#arm();
  }

  #arm(): void {
    const top = this.#heap[0];
    if (top === undefined || (this.#armed !== undefined && this.#armed.due <= top.due)) return;
    this.#armed?.cancel();
    const cancel = this.#clock.after(top.due - this.#clock.elapsed(), () => this.#fire());
    this.#armed = { due: top.due, cancel };
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent] as Entry)) break;
      heap[at] = heap[parent] as Entry;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[at] = heap[child] as Entry;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}
