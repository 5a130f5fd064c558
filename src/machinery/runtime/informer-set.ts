import { type KubeObject, qualifiedResource, type ResourceType } from '../../api/resource.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import { Informer } from './informer.ts';
import type { Logger } from './log.ts';

export interface InformerSetOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly namespace?: string | undefined;
  /** Per resource (`plural.group`), what to drop before caching. */
  readonly transforms?: ReadonlyMap<string, (object: KubeObject) => KubeObject> | undefined;
  /** Resources (`plural.group`) of which is kept who wrote what. */
  readonly withWriters?: ReadonlySet<string> | undefined;
  /** Kinds of software that may be removed; see `InformerOptions`. */
  readonly optional?: ((type: ResourceType) => boolean) | undefined;
  /** Open a watch anew that has been silent for so long. */
  readonly stalledMs?: number | undefined;
  /** Per resource, how much later to take its events in; see `InformerOptions`. */
  readonly gatherMs?: ReadonlyMap<string, number> | undefined;
}

/** Shares one informer per resource among all controllers of a process. */
export class InformerSet {
  readonly #options: InformerSetOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #finding = new Map<Promise<unknown>, string>();

  constructor(options: InformerSetOptions) {
    this.#options = options;
  }

  /** The shared informer of a resource, started on first use. Add handlers and indexes to it before awaiting sync. */
  of<T extends KubeObject>(type: ResourceType<T>): Informer<T> {
    const name = `${type.group}/${type.version}/${type.plural}`;
    let informer = this.#informers.get(name) as Informer<T> | undefined;
    if (informer === undefined) {
      const { client, clock, gatherMs, log, namespace, optional, transforms, signal, stalledMs, withWriters } =
        this.#options;
      const resource = qualifiedResource(type as ResourceType);
      const transform = transforms?.get(resource);
      informer = new Informer<T>({
        client,
        clock,
        log,
        type,
        stalledMs,
        optional: optional?.(type as ResourceType),
        gatherMs: gatherMs?.get(resource),
        keepsWriters: withWriters?.has(resource),
        namespace: type.namespaced ? namespace : undefined,
        transform: transform as ((object: T) => T) | undefined,
      });
      // Its handlers take objects of `T` only: whoever asks for another kind gets another informer.
      this.#informers.set(name, informer as unknown as Informer<KubeObject>);
      informer.start(signal);
    }
    return informer;
  }

  /** It is still being found out which resources of a sort are served: until then more may have to be followed. */
  finding(sort: string, found: Promise<unknown>): void {
    this.#finding.set(found, sort);
    const done = (): unknown => this.#finding.delete(found);
    found.then(done, done);
  }

  /** The resources by whose copies nothing should be decided now, each with why. */
  problems(): readonly string[] {
    const followed = [...this.#informers.values()].flatMap(({ problem, type }) =>
      problem === undefined ? [] : [`${qualifiedResource(type)} ${problem}`],
    );
    return [...followed, ...new Set([...this.#finding.values()].map((sort) => `${sort} not found yet`))];
  }

  /** How each resource is followed. */
  states(): readonly { readonly resource: string; readonly silentMs: number; readonly live: boolean }[] {
    return [...this.#informers.values()].map(({ live, silentMs, type }) => ({
      resource: qualifiedResource(type),
      silentMs,
      live,
    }));
  }

  async whenSynced(): Promise<void> {
    await Promise.allSettled(this.#finding.keys());
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced()));
  }
}
