import { type KubeObject, keyOf, type ObjectKey, formatKey, type ResourceType } from '../../api/resource.ts';
import { asShared, type Labels, matches, type Selector } from '../values/index.ts';
import { isExpired, isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import { type Clock, sleep } from './clock.ts';
import { InformerLife, SILENT_MS } from './informer-life.ts';
import { reportDefect } from './defects.ts';
import type { Logger } from './log.ts';
import { nextTurn } from './turns.ts';

export interface InformerHandler<T> {
  /** `initial` is true for objects delivered by the first list. */
  readonly added?: (object: T, initial: boolean) => void;
  readonly updated?: (object: T, old: T) => void;
  readonly deleted?: (object: T) => void;
}

export interface InformerOptions<T extends KubeObject> {
  readonly client: Client;
  readonly type: ResourceType<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
  /** Drops what the reader does not need before it is cached. */
  readonly transform?: ((object: T) => T) | undefined;
  /** Keep who wrote what (managedFields), which is dropped otherwise. */
  readonly keepsWriters?: boolean | undefined;
  /** Software that brings this kind may be removed: a copy of what is no longer served is then empty, and live. */
  readonly optional?: boolean | undefined;
  /** A watch that has been silent for so long, bookmarks included, is opened anew. Default: never. */
  readonly stalledMs?: number | undefined;
  /** Over the network: take events in so much later, together with those that came meanwhile. Default: at once. */
  readonly gatherMs?: number | undefined;
}

interface WatchLife {
  readonly signal: AbortSignal;
  /** Something was heard. */
  readonly sign: () => void;
  readonly isStalled: () => boolean;
  readonly end: () => void;
}

/** A function that names the buckets an object belongs to. */
export type IndexFunction<T> = (object: T) => readonly string[];

const BACKOFF_BASE_MS = 200;
const BACKOFF_MAX_MS = 5000;
const NOT_SERVED_BASE_MS = 1000;
/** Silent and not answering a list of one object by then: the copy is not live. */
const PROBE_MS = 10_000;

/**
 * A local copy of a collection, kept current by list and watch. Objects in it are shared: never change them.
 * It survives closed watches, 410s and unreachable servers by itself; readers see the last state it knew.
 */
export class Informer<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly #options: InformerOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, { of: IndexFunction<T>; buckets: Map<string, Map<string, T>> }>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #syncWaiters: (() => void)[] = [];
  readonly #life: InformerLife;
  #synced = false;
  #started = false;
  #resourceVersion = '';
  #changedAt = '';

  constructor(options: InformerOptions<T>) {
    const { clock, log, type } = options;
    this.#options = options;
    this.type = type;
    this.#life = new InformerLife({ clock, log, resource: type.plural, group: type.group });
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** Why nothing should be decided by this copy now; undefined where it is filled and follows the API server. */
  get problem(): string | undefined {
    const problem = this.#life.problem({ optional: this.#options.optional === true });
    return this.#synced ? problem : (problem ?? 'not filled yet');
  }

  get live(): boolean {
    return this.problem === undefined;
  }

  /** How long nothing has been heard, bookmarks included. */
  get silentMs(): number {
    return this.#life.silentMs;
  }

  /** The resourceVersion the copy is known to be at least as new as. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Likewise, but of the last change: bookmarks, which each reader gets at times of its own, do not count. */
  get changedAt(): string {
    return this.#changedAt;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(formatKey(key));
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.#objects.values()];
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  select(namespace: string | undefined, selector: Selector): T[] {
    return this.list(namespace).filter((object) => matches(selector, object.metadata.labels as Labels | undefined));
  }

  /** Adds a named index; readers then find objects by bucket without a scan. Idempotent per name. */
  addIndex(name: string, of: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    const buckets = new Map<string, Map<string, T>>();
    this.#indexes.set(name, { of, buckets });
    for (const [key, object] of this.#objects) for (const bucket of of(object)) put(buckets, bucket, key, object);
  }

  byIndex(name: string, bucket: string): T[] {
    return [...(this.#indexes.get(name)?.buckets.get(bucket)?.values() ?? [])];
  }

  /** Registers a handler; objects already known are delivered to it at once as added. Returns a remover. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler.added?.(object, true);
    return () => this.#handlers.delete(handler);
  }

  whenSynced(): Promise<void> {
    if (this.#synced) return Promise.resolve();
    return new Promise((resolve) => this.#syncWaiters.push(resolve));
  }

  /** Starts following; a second call does nothing. Ends when the signal aborts. */
  start(signal: AbortSignal): void {
    if (this.#started) return;
    this.#started = true;
    void this.#follow(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failures = 0;
    let resume = '';
    while (!signal.aborted) {
      let openedMs = clock.elapsed();
      try {
        if (resume === '') resume = await this.#relist();
        openedMs = clock.elapsed();
        resume = await this.#watch(resume, signal);
        failures = 0;
        // A server that ends every watch at once must not be asked in a circle.
        if (clock.elapsed() - openedMs < BACKOFF_BASE_MS) await sleep(clock, BACKOFF_BASE_MS, signal).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        if (isExpired(error)) {
          resume = '';
          continue;
        }
        // From where we are: what was heard before the watch broke must not be heard again, older after newer.
        if (resume !== '') resume = this.#resourceVersion;
        if (clock.elapsed() - openedMs > BACKOFF_MAX_MS) failures = 0;
        failures += 1;
        const isServed = !isNotFound(error);
        if (isServed) this.#life.failed(error);
        else this.#life.notServed(error, this.#options);
        // What is served again after it was not is another collection: nothing of the old one can be resumed.
        if (!isServed) resume = '';
        if (this.#options.optional === true && this.#life.isAbsent) {
          this.#forget();
          this.#filled();
        }
        const baseMs = isServed ? BACKOFF_BASE_MS : NOT_SERVED_BASE_MS;
        const delayMs = Math.min(baseMs * 2 ** (failures - 1), BACKOFF_MAX_MS);
        await sleep(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  async #relist(): Promise<string> {
    const { client, type, namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    const first = !this.#synced;
    const gone = new Set(this.#objects.keys());
    const later: T[] = [];
    let token: string | undefined;
    let resourceVersion = '';
    do {
      const page = await client.list(type, {
        namespace,
        labelSelector,
        fieldSelector,
        metadataOnly,
        limit: client.pageSize,
        shared: true,
        continue: token,
      });
      token = page.metadata.continue || undefined;
      resourceVersion = page.metadata.resourceVersion;
      // Projected page by page: only what is kept of an object may pile up.
      for (const item of page.items) {
        const object = this.#transform(item);
        gone.delete(keyOf(object));
        // Nobody acts on the copy before it is whole for the first time, so it may grow; later it must change at once.
        if (first) this.#store(object);
        else later.push(object);
      }
      if (first && token !== undefined) await nextTurn();
    } while (token !== undefined);
    for (const key of gone) this.#remove(key, this.#objects.get(key) as T);
    for (const object of later) this.#store(object);
    this.#resourceVersion = resourceVersion;
    this.#changedAt = resourceVersion;
    this.#life.heard();
    this.#filled();
    return resourceVersion;
  }

  #filled(): void {
    if (this.#synced) return;
    this.#synced = true;
    for (const waiter of this.#syncWaiters.splice(0)) waiter();
  }

  async #watch(from: string, signal: AbortSignal): Promise<string> {
    const { client, gatherMs, log, type, namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    let resume = from;
    const life = this.#watchOver(signal);
    const options = { namespace, labelSelector, fieldSelector, metadataOnly, resourceVersion: from, shared: true };
    try {
      const opened = (): void => this.#life.heard();
      for await (const event of client.watch(type, { ...options, gatherMs, opened, signal: life.signal })) {
        life.sign();
        const { object } = event;
        resume = object.metadata.resourceVersion ?? resume;
        this.#resourceVersion = resume;
        if (event.type === 'BOOKMARK') continue;
        this.#changedAt = resume;
        if (event.type === 'DELETED') {
          const key = keyOf(object);
          const known = this.#objects.get(key);
          if (known !== undefined) this.#remove(key, this.#transform(object));
        } else {
          this.#store(this.#transform(object));
        }
      }
    } catch (error) {
      // No failure yet: of a resource that nobody touches API servers send not even bookmarks. A dead server shows
      // when the watch is opened anew.
      if (!life.isStalled() || signal.aborted) throw error;
      log.debug({ resource: type.plural, group: type.group }, 'reopening a watch that has gone silent');
    } finally {
      life.end();
    }
    return resume;
  }

  /** A signal that also fires when nothing has been heard for too long: a dead connection need not say that it is. */
  #watchOver(signal: AbortSignal): WatchLife {
    const { clock, stalledMs, type } = this.#options;
    const heard = this.#life;
    if (stalledMs === undefined) return { signal, sign: () => {}, isStalled: () => false, end: () => {} };
    const stalled = new AbortController();
    const openedMs = clock.elapsed();
    let cancel = (): void => {};
    let probed = false;
    const look = (): void => {
      const silentMs = Math.min(heard.silentMs, clock.elapsed() - openedMs);
      if (silentMs >= stalledMs) {
        stalled.abort(new Error(`the watch of ${type.plural} has been silent for ${stalledMs / 1000} s`));
        return;
      }
      if (silentMs >= SILENT_MS && !probed) void this.#probe();
      probed = silentMs >= SILENT_MS;
      cancel = clock.after((probed ? stalledMs : Math.min(SILENT_MS, stalledMs)) - silentMs, look);
    };
    look();
    const end = (): void => cancel();
    signal.addEventListener('abort', end, { once: true });
    return {
      signal: AbortSignal.any([signal, stalled.signal]),
      sign: () => heard.heard(),
      isStalled: () => stalled.signal.aborted,
      end: () => {
        end();
        signal.removeEventListener('abort', end);
      },
    };
  }

  /** Of a kind that is no longer served nothing is left. */
  #forget(): void {
    for (const [key, object] of this.#objects) this.#remove(key, object);
  }

  /** Asks whether the API server still answers. That it does says nothing of the watch, which is opened anew soon. */
  async #probe(): Promise<void> {
    const { client, namespace, type } = this.#options;
    try {
      await client.list(type, { namespace, limit: 1, metadataOnly: true, deadlineMs: PROBE_MS });
    } catch (error) {
      if (isNotFound(error)) this.#life.notServed(error);
      else this.#life.failed(error);
    }
  }

  #transform(object: T): T {
    const { keepsWriters = false, transform, type, metadataOnly } = this.#options;
    // More than half of a typical pod, and of no use to controllers; an update without them keeps them. Objects shared
    // with a server in this process come without them.
    const metadata = object.metadata as { managedFields?: unknown };
    if (metadata.managedFields !== undefined && !keepsWriters) delete metadata.managedFields;
    // List items of built-ins come without these two; every reader may rely on them.
    if (metadataOnly === true) {
      // They arrive as PartialObjectMetadata; readers want to know what they are part of.
      object.kind = type.kind;
      object.apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    }
    object.kind ??= type.kind;
    object.apiVersion ??= type.group === '' ? type.version : `${type.group}/${type.version}`;
    return asShared(transform === undefined ? object : transform(object));
  }

  #store(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    if (old !== undefined) this.#unindex(key, old);
    this.#objects.set(key, object);
    if (object.metadata.namespace) put(this.#byNamespace, object.metadata.namespace, key, object);
    for (const { of, buckets } of this.#indexes.values()) {
      for (const bucket of of(object)) put(buckets, bucket, key, object);
    }
    for (const handler of this.#handlers) {
      try {
        if (old === undefined) handler.added?.(object, !this.#synced);
        else handler.updated?.(object, old);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  #remove(key: string, last: T): void {
    const old = this.#objects.get(key);
    if (old !== undefined) this.#unindex(key, old);
    this.#objects.delete(key);
    for (const handler of this.#handlers) {
      try {
        handler.deleted?.(last);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  #unindex(key: string, old: T): void {
    if (old.metadata.namespace) drop(this.#byNamespace, old.metadata.namespace, key);
    for (const { of, buckets } of this.#indexes.values()) for (const bucket of of(old)) drop(buckets, bucket, key);
  }

  /** One handler's bug must not stop the others or the watch. */
  #report(error: unknown): void {
    reportDefect(error);
    this.#options.log.error({ resource: this.type.plural, error: String(error) }, 'an informer handler threw');
  }
}

function put<T>(buckets: Map<string, Map<string, T>>, bucket: string, key: string, object: T): void {
  let members = buckets.get(bucket);
  if (members === undefined) {
    members = new Map();
    buckets.set(bucket, members);
  }
  members.set(key, object);
}

function drop<T>(buckets: Map<string, Map<string, T>>, bucket: string, key: string): void {
  const members = buckets.get(bucket);
  if (members === undefined) return;
  members.delete(key);
  if (members.size === 0) buckets.delete(bucket);
}
