import type { GroupLookup, GroupSource, PodGroupFacts, WorkloadFacts } from '../disruption/index.ts';

/** The group objects of each namespace, as the resolvers ask for them. */
export class GroupObjects {
  readonly #namespaces = new Map<string, NamespaceGroups>();

  of(namespace: string): NamespaceGroups {
    const known = this.#namespaces.get(namespace) ?? new NamespaceGroups();
    this.#namespaces.set(namespace, known);
    return known;
  }
}

class NamespaceGroups implements GroupLookup {
  readonly #workloads = new Map<string, WorkloadFacts>();
  readonly #podGroups = new Map<string, PodGroupFacts>();
  readonly #sources = new Map<string, GroupSource>();
  /** PodGroups that stay, by template. */
  readonly #live = new Map<string, number>();

  setWorkload(facts: WorkloadFacts): void {
    this.#workloads.set(facts.name, facts);
  }

  setPodGroup(facts: PodGroupFacts): void {
    const { name, template, terminating } = facts;
    if (!this.#podGroups.has(name) && !terminating && template !== undefined) {
      const key = `${template.workload}/${template.name}`;
      this.#live.set(key, (this.#live.get(key) ?? 0) + 1);
    }
    this.#podGroups.set(name, facts);
  }

  setSource(key: string, source: GroupSource): void {
    this.#sources.set(key, source);
  }

  workload(name: string): WorkloadFacts | undefined {
    return this.#workloads.get(name);
  }

  podGroup(name: string): PodGroupFacts | undefined {
    return this.#podGroups.get(name);
  }

  livePodGroups(workload: string, template: string): number {
    return this.#live.get(`${workload}/${template}`) ?? 0;
  }

  source(key: string): GroupSource | undefined {
    return this.#sources.get(key);
  }
}
