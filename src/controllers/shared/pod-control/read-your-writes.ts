import type { KubeObject } from '../../../api/resource.ts';

/** As much of an informer as is needed to know how far it has come. */
export interface Progress {
  readonly resourceVersion: string;
}

/**
 * Remembers, per owner, the last resourceVersion its controller wrote, so that a pass can tell that a cache is older
 * than its own writes and wait for it instead of acting on the past.
 */
export class ReadYourWrites {
  readonly #writes = new Map<string, Map<Progress, number>>();

  record(key: string, cache: Progress, written: KubeObject): void {
    const version = Number(written.metadata.resourceVersion);
    if (!Number.isSafeInteger(version)) return;
    let caches = this.#writes.get(key);
    if (caches === undefined) {
      caches = new Map();
      this.#writes.set(key, caches);
    }
    caches.set(cache, Math.max(version, caches.get(cache) ?? 0));
  }

  /** True when every cache shows the last write made for the key. */
  seen(key: string): boolean {
    const caches = this.#writes.get(key);
    if (caches === undefined) return true;
    for (const [cache, version] of caches) if (Number(cache.resourceVersion) < version) return false;
    this.#writes.delete(key);
    return true;
  }

  forget(key: string): void {
    this.#writes.delete(key);
  }
}
