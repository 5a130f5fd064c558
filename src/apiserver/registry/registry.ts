import type { Subresource } from './subresource.ts';
import type { Resource, ServedVersion } from './resource.ts';

export interface FoundResource {
  readonly resource: Resource;
  readonly version: ServedVersion;
}

/** All resources by group, version and plural. Resources come and go at run time; `generation` tells caches when they did. */
export class Registry {
  readonly #byPath = new Map<string, FoundResource>();
  readonly #resources = new Set<Resource>();
  /** The first resource of each group and plural: asked for several times by every create. Made anew after a change. */
  #byPlural: Map<string, Map<string, Resource>> | undefined;
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Grows with every change. */
  get generation(): number {
    return this.#generation;
  }

  add(resource: Resource): void {
    this.#resources.add(resource);
    for (const version of resource.versions)
      this.#byPath.set(pathOf(resource.group, version.name, resource.plural), { resource, version });
    this.#changed();
  }

  remove(resource: Resource): void {
    if (!this.#resources.delete(resource)) return;
    for (const version of resource.versions) {
      const path = pathOf(resource.group, version.name, resource.plural);
      if (this.#byPath.get(path)?.resource === resource) this.#byPath.delete(path);
    }
    this.#changed();
  }

  /** Puts a new resource in the place of an old one without a moment when the resource is not served. */
  replace(old: Resource, resource: Resource): void {
    this.#resources.delete(old);
    for (const version of old.versions) this.#byPath.delete(pathOf(old.group, version.name, old.plural));
    this.add(resource);
  }

  /** Adds a subresource to a built-in resource, such as `pods/eviction`. */
  addSubresource(group: string, plural: string, name: string, subresource: Subresource): void {
    const resource = this.byPlural(group, plural);
    if (resource === undefined)
      throw new Error(`Cannot add subresource "${name}": no resource ${plural} in group "${group}"`);
    // Two of one name would mean that whoever came first is not asked any more.
    if (resource.subresources.has(name)) throw new Error(`Cannot add subresource "${name}" of ${plural} twice`);
    (resource.subresources as Map<string, Subresource>).set(name, subresource);
    this.#changed();
  }

  find(group: string, version: string, plural: string): FoundResource | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  byKind(group: string, kind: string): Resource | undefined {
    for (const resource of this.#resources) if (resource.group === group && resource.kind === kind) return resource;
    return undefined;
  }

  byPlural(group: string, plural: string): Resource | undefined {
    this.#byPlural ??= firstByPlural(this.#resources);
    return this.#byPlural.get(plural)?.get(group);
  }

  /** A kind of ours is served here as ours: no definition of other software has taken its place. */
  servesOwn(group: string, plural: string): boolean {
    return this.byPlural(group, plural)?.yields !== undefined;
  }

  hasGroup(group: string): boolean {
    for (const resource of this.#resources) if (resource.group === group) return true;
    return false;
  }

  hasVersion(group: string, version: string): boolean {
    for (const resource of this.#resources) {
      if (resource.group === group && resource.versions.some(({ name }) => name === version)) return true;
    }
    return false;
  }

  resources(): IterableIterator<Resource> {
    return this.#resources.values();
  }

  /** Calls back after each change; returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#generation += 1;
    this.#byPlural = undefined;
    for (const listener of this.#listeners) listener();
  }
}

const pathOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

function firstByPlural(resources: Iterable<Resource>): Map<string, Map<string, Resource>> {
  const byPlural = new Map<string, Map<string, Resource>>();
  for (const resource of resources) {
    let byGroup = byPlural.get(resource.plural);
    if (byGroup === undefined) byPlural.set(resource.plural, (byGroup = new Map()));
    if (!byGroup.has(resource.group)) byGroup.set(resource.group, resource);
  }
  return byPlural;
}
