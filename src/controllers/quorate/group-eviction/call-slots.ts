/** Calls at once, over all notices, and of them to one host. */
const AT_ONCE = 64;
const PER_HOST = 4;

interface Waiting {
  readonly host: string;
  readonly begin: () => void;
}

/** Bounds the calls under way. One slow host delays no other: whose turn it is but for its host is passed over. */
export class CallSlots {
  readonly #byHost = new Map<string, number>();
  #waiting: Waiting[] = [];
  #taken = 0;

  /** Runs a call when there is room for it. */
  async run<T>(host: string, call: () => Promise<T>): Promise<T> {
    if (this.#isFree(host)) this.#take(host);
    else {
      await new Promise<void>((begin) => {
        this.#waiting.push({ host, begin });
      });
    }
    try {
      return await call();
    } finally {
      this.#taken -= 1;
      const left = (this.#byHost.get(host) ?? 1) - 1;
      if (left === 0) this.#byHost.delete(host);
      else this.#byHost.set(host, left);
      this.#next();
    }
  }

  #isFree(host: string): boolean {
    return this.#taken < AT_ONCE && (this.#byHost.get(host) ?? 0) < PER_HOST;
  }

  #take(host: string): void {
    this.#taken += 1;
    this.#byHost.set(host, (this.#byHost.get(host) ?? 0) + 1);
  }

  #next(): void {
    const at = this.#waiting.findIndex(({ host }) => this.#isFree(host));
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (next === undefined) return;
    this.#take(next.host);
    next.begin();
  }
}
