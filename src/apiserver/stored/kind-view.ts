/**
 * The objects of one small kind, decoded and kept current by a watch of the store: what is read on every request
 * (roles, webhook configurations, quotas) must cost no decoding.
 */
import type { Clock } from '../../machinery/runtime/index.ts';
import type { Store, StoreEvent } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectCache } from './object-cache.ts';

export interface StoredReads {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: ObjectCache;
}

/** What changing stored objects takes. */
export interface StoredWrites extends StoredReads {
  readonly clock: Clock;
}

export class KindView<T extends object = ApiObject> {
  readonly #prefix: string;
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;

  constructor({ store, registry }: StoredReads, group: string, plural: string) {
    const resource = registry.byPlural(group, plural);
    if (resource === undefined) throw new Error(`Cannot view ${plural}: no such resource in group "${group}"`);
    this.#prefix = resource.prefix;
    const revision = store.revision;
    for (const entry of store.range(this.#prefix)) this.#objects.set(entry.key, decode(entry.value));
    this.#stop = store.watch(this.#prefix, revision, (events) => this.#apply(events));
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace ? `${this.#prefix}${namespace}/${name}` : `${this.#prefix}${name}`);
  }

  /** In no particular order. */
  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Calls back after every batch of changes. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  stop(): void {
    this.#stop();
  }

  #apply(events: readonly StoreEvent[]): void {
    for (const event of events) {
      if (event.type === 'put' && event.entry !== undefined) this.#objects.set(event.key, decode(event.entry.value));
      else this.#objects.delete(event.key);
    }
    for (const listener of this.#listeners) listener();
  }
}

function decode<T>(value: Buffer): T {
  return JSON.parse(value.toString('utf8')) as T;
}

/** One stored object as it is on disk now; shared, so never change it. */
export function readStored<T = ApiObject>(
  { store, registry, objects }: StoredReads,
  type: { readonly group: string; readonly plural: string },
  namespace: string | undefined,
  name: string,
): T | undefined {
  const resource = registry.byPlural(type.group, type.plural);
  if (resource === undefined) return undefined;
  const entry = store.get(
    resource.namespaced ? `${resource.prefix}${namespace ?? ''}/${name}` : `${resource.prefix}${name}`,
  );
  return entry === undefined ? undefined : (objects.readOften(entry) as T);
}

/** Every stored object of a kind in a namespace, or anywhere. */
export function listStored<T = ApiObject>(
  { store, registry, objects }: StoredReads,
  type: { readonly group: string; readonly plural: string },
  namespace: string | undefined,
): T[] {
  const resource = registry.byPlural(type.group, type.plural);
  if (resource === undefined) return [];
  const prefix = resource.namespaced && namespace ? `${resource.prefix}${namespace}/` : resource.prefix;
  return store.range(prefix).map((entry) => objects.readOften(entry) as T);
}
