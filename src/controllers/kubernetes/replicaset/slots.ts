/**
 * How many passes work at once. A pass that only waits for an application lends its slot to others meanwhile, so that
 * pickers that hang hold up nobody but their own ReplicaSets.
 */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire();
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Call inside `use`. */
  async lend<T>(wait: () => Promise<T>): Promise<T> {
    this.#release();
    try {
      return await wait();
    } finally {
      await this.#acquire();
    }
  }

  #acquire(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
