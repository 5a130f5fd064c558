import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';

/** A pod as its scheduler left it. */
export interface Standing {
  readonly node: string | undefined;
  readonly refusal: string | undefined;
}

const READ_MS = 20_000;

type Condition = (pods: ReadonlyMap<string, Standing>) => boolean;

/** What became of pods, by namespace; kept by one watch, and waited on by many. */
export class PodBoard {
  readonly #client: Client;
  readonly #ended = new AbortController();
  readonly #namespaces = new Map<string, Map<string, Standing>>();
  readonly #changed = new Map<string, number>();
  readonly #waiters = new Map<string, Set<() => void>>();
  #steps = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async follow(): Promise<void> {
    const { metadata } = await this.#client.list(podType, {});
    void this.#watch(metadata.resourceVersion);
  }

  stop(): void {
    this.#ended.abort();
  }

  podsOf(namespace: string): ReadonlyMap<string, Standing> {
    return this.#namespaces.get(namespace) ?? new Map();
  }

  /** A number that grows whenever one of these pods gets a node or a new refusal. */
  changedAt(namespace: string, names: readonly string[]): number {
    return names.reduce((last, name) => Math.max(last, this.#changed.get(`${namespace}/${name}`) ?? 0), 0);
  }

  forget(namespace: string): void {
    for (const name of this.podsOf(namespace).keys()) this.#changed.delete(`${namespace}/${name}`);
    this.#namespaces.delete(namespace);
  }

  /** True once the condition holds; false if it does not within the time, nor in a list after it. */
  until(namespace: string, condition: Condition, timeoutMs: number): Promise<boolean> {
    if (condition(this.podsOf(namespace))) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiting = this.#waiters.get(namespace) ?? new Set();
      this.#waiters.set(namespace, waiting);
      const end = (met: boolean): void => {
        clearTimeout(timer);
        waiting.delete(look);
        resolve(met);
      };
      const look = (): void => {
        if (condition(this.podsOf(namespace))) end(true);
      };
      // A watch that has fallen silent tells nothing: what stands is read once more before the answer is no.
      const last = (): void => {
        void this.#read(namespace).finally(() => end(condition(this.podsOf(namespace))));
      };
      const timer = setTimeout(last, Math.max(0, timeoutMs));
      waiting.add(look);
    });
  }

  async #read(namespace?: string): Promise<string | undefined> {
    try {
      const { items, metadata } = await this.#client.list(podType, { namespace, deadlineMs: READ_MS });
      for (const pod of items) this.#note(pod);
      return metadata.resourceVersion;
    } catch {
      // The next one that waits asks again.
      return undefined;
    }
  }

  async #watch(from: string): Promise<void> {
    let resourceVersion = from;
    while (!this.#ended.signal.aborted) {
      try {
        for await (const { object, type } of this.#client.watch(podType, {
          resourceVersion,
          signal: this.#ended.signal,
        })) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type === 'ADDED' || type === 'MODIFIED') this.#note(object);
        }
      } catch {
        // What the watch has lost, such as a version too old to go on from, a list makes up for.
        if (!this.#ended.signal.aborted) resourceVersion = (await this.#read()) ?? resourceVersion;
      }
    }
  }

  #note(pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const standing: Standing = {
      node: pod.spec?.nodeName || undefined,
      refusal: condition?.status === 'False' ? (condition.message ?? condition.reason) : undefined,
    };
    const pods = this.#namespaces.get(namespace) ?? new Map<string, Standing>();
    this.#namespaces.set(namespace, pods);
    const before = pods.get(name);
    pods.set(name, standing);
    if (before?.node === standing.node && before?.refusal === standing.refusal) return;
    this.#steps += 1;
    this.#changed.set(`${namespace}/${name}`, this.#steps);
    this.#waiters.get(namespace)?.forEach((look) => look());
  }
}
