import type { Subresource } from './subresource.ts';
import type { ResourceRow, VersionRow } from './row.ts';

export interface FoundResource {
  readonly row: ResourceRow;
  readonly version: VersionRow;
}

/** All rows by group, version and plural. Rows come and go at run time; `generation` tells caches when they did. */
export class Registry {
  readonly #byPath = new Map<string, FoundResource>();
  readonly #rows = new Set<ResourceRow>();
  /** The first row of each group and plural: asked for several times by every create. Made anew after a change. */
  #byPlural: Map<string, Map<string, ResourceRow>> | undefined;
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Grows with every change. */
  get generation(): number {
    return this.#generation;
  }

  add(row: ResourceRow): void {
    this.#rows.add(row);
    for (const version of row.versions) this.#byPath.set(pathOf(row.group, version.name, row.plural), { row, version });
    this.#changed();
  }

  remove(row: ResourceRow): void {
    if (!this.#rows.delete(row)) return;
    for (const version of row.versions) {
      const path = pathOf(row.group, version.name, row.plural);
      if (this.#byPath.get(path)?.row === row) this.#byPath.delete(path);
    }
    this.#changed();
  }

  /** Puts a new row in the place of an old one without a moment when the resource is not served. */
  replace(old: ResourceRow, row: ResourceRow): void {
    this.#rows.delete(old);
    for (const version of old.versions) this.#byPath.delete(pathOf(old.group, version.name, old.plural));
    this.add(row);
  }

  /** Adds a subresource to a built-in row, such as `pods/eviction`. */
  addSubresource(group: string, plural: string, name: string, subresource: Subresource): void {
    const row = this.byPlural(group, plural);
    if (row === undefined)
      throw new Error(`Cannot add subresource "${name}": no resource ${plural} in group "${group}"`);
    // Two of one name would mean that whoever came first is not asked any more.
    if (row.subresources.has(name)) throw new Error(`Cannot add subresource "${name}" of ${plural} twice`);
    (row.subresources as Map<string, Subresource>).set(name, subresource);
    this.#changed();
  }

  find(group: string, version: string, plural: string): FoundResource | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  byKind(group: string, kind: string): ResourceRow | undefined {
    for (const row of this.#rows) if (row.group === group && row.kind === kind) return row;
    return undefined;
  }

  byPlural(group: string, plural: string): ResourceRow | undefined {
    this.#byPlural ??= firstByPlural(this.#rows);
    return this.#byPlural.get(plural)?.get(group);
  }

  hasGroup(group: string): boolean {
    for (const row of this.#rows) if (row.group === group) return true;
    return false;
  }

  hasVersion(group: string, version: string): boolean {
    for (const row of this.#rows) {
      if (row.group === group && row.versions.some(({ name }) => name === version)) return true;
    }
    return false;
  }

  rows(): IterableIterator<ResourceRow> {
    return this.#rows.values();
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

function firstByPlural(rows: Iterable<ResourceRow>): Map<string, Map<string, ResourceRow>> {
  const byPlural = new Map<string, Map<string, ResourceRow>>();
  for (const row of rows) {
    let byGroup = byPlural.get(row.plural);
    if (byGroup === undefined) byPlural.set(row.plural, (byGroup = new Map()));
    if (!byGroup.has(row.group)) byGroup.set(row.group, row);
  }
  return byPlural;
}
