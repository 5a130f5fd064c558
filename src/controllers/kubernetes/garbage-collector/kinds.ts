import { type ResourceType, splitApiVersion } from '../../../api/resource.ts';
import type { DiscoveredResource, Discovery } from '../../../machinery/runtime/index.ts';

/** Which resource an owner reference means, as discovery last told. */
export class KnownKinds {
  #byKind = new Map<string, DiscoveredResource>();

  /** Tells whether there are kinds that were not known before. */
  learn({ resources }: Discovery): boolean {
    // Subresources never appear here; of two resources with one kind the first listed is the kind's own.
    const before = this.#byKind;
    this.#byKind = new Map();
    let isNews = false;
    for (const resource of resources) {
      const name = `${resource.group}/${resource.kind}`;
      if (this.#byKind.has(name)) continue;
      this.#byKind.set(name, resource);
      if (!before.has(name)) isNews = true;
    }
    return isNews;
  }

  /** Any version will do: they are views of one object. */
  resolve(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#byKind.get(`${splitApiVersion(apiVersion).group}/${kind}`);
  }
}

const IGNORED = new Set(['events', 'events.events.k8s.io']);

/** The resources whose objects can own, be owned and be deleted. Events come and go too fast to be worth it. */
export function collectable({ resources }: Discovery): DiscoveredResource[] {
  return resources.filter(
    ({ group, plural, verbs }) =>
      verbs.has('list') &&
      verbs.has('watch') &&
      verbs.has('delete') &&
      !IGNORED.has(group === '' ? plural : `${plural}.${group}`),
  );
}
