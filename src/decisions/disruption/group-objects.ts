import { deepEqual } from '../../machinery/values/index.ts';
import { buildTree, LAST_KNOWN_MS, oneOf, type OneOfGroups, type TreeChildren } from './composite.ts';
import type {
  CompositeFacts,
  GroupLookup,
  GroupSource,
  PodGroupFacts,
  TemplateName,
  UnitTree,
  WorkloadFacts,
} from './group-facts.ts';
import type { SaidOfGroup } from './label-sources/index.ts';
import { join, leave } from './linked-pods.ts';
import { familyOf, minimumOfLeaf } from './resolve.ts';

/**
 * Whose kind says it: Kubernetes' own, or the one that definitions of ours serve. Where both have an object of one name,
 * Kubernetes' counts; the other stands in for it while groups are moved from one version of Kubernetes to the next.
 */
export type GroupServer = 'native' | 'own';

/** Objects of one kind by name, from both servers. */
class Objects<T> {
  readonly #native = new Map<string, T>();
  readonly #own = new Map<string, T>();

  get size(): number {
    return this.#native.size + this.#own.size;
  }

  get(name: string): T | undefined {
    return this.#native.get(name) ?? this.#own.get(name);
  }

  set(server: GroupServer, name: string, facts: T | undefined): void {
    const objects = server === 'native' ? this.#native : this.#own;
    if (facts === undefined) objects.delete(name);
    else objects.set(name, facts);
  }
}

/** What a change of one object may make another answer. */
export interface Concerned {
  /** Names of PodGroups whose pods may belong elsewhere now, or need another minimum. */
  readonly podGroups: ReadonlySet<string>;
  /** Families that may have another number of replicas. */
  readonly families: readonly string[];
}

type Member = { readonly kind: 'PodGroup' | 'CompositePodGroup'; readonly name: string };

/** The group objects of one namespace. Every change tells whose pods it may concern. */
export class GroupObjects implements GroupLookup {
  readonly #workloads = new Objects<WorkloadFacts>();
  readonly #podGroups = new Objects<PodGroupFacts>();
  readonly #composites = new Objects<CompositeFacts>();
  readonly #live = new Map<string, number>();
  /** By the group's key, with who said it. A LeaderWorkerSet and the StatefulSet of its leaders speak of the same groups. */
  readonly #sources = new Map<string, Map<string, GroupSource>>();
  readonly #saidBy = new Map<string, string>();
  /** Names of the PodGroups made from a Workload. */
  readonly #madeFrom = new Map<string, Set<string>>();
  /** By composite, names of what says it belongs to it. */
  readonly #groupsIn = new Map<string, Set<string>>();
  readonly #compositesIn = new Map<string, Set<string>>();
  readonly #trees = new Map<string, UnitTree>();
  /** By PodGroup, what it was part of when an object that said so went. */
  readonly #lastKnown = new Map<string, { readonly one: OneOfGroups; readonly at: number }>();
  readonly #now: (() => number) | undefined;
  #revision = 0;

  /** With a clock, groups that are disrupted as one are so for a moment longer than their objects are there. */
  constructor(now?: () => number) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#workloads.size + this.#podGroups.size + this.#composites.size + this.#sources.size === 0;
  }

  /** Moves with every change that may make an answer another one. */
  get revision(): number {
    return this.#revision;
  }

  workload(name: string): WorkloadFacts | undefined {
    return this.#workloads.get(name);
  }

  podGroup(name: string): PodGroupFacts | undefined {
    return this.#podGroups.get(name);
  }

  composite(name: string): CompositeFacts | undefined {
    return this.#composites.get(name);
  }

  tree(composite: CompositeFacts): UnitTree {
    let tree = this.#trees.get(composite.name);
    if (tree === undefined) {
      const childrenOf = (name: string): TreeChildren => ({
        groups: facts(this.#groupsIn.get(name), this.#podGroups),
        composites: facts(this.#compositesIn.get(name), this.#composites),
      });
      tree = buildTree(composite, { childrenOf, minimumOf: (group) => minimumOfLeaf(group, this) });
      this.#trees.set(composite.name, tree);
    }
    return tree;
  }

  /** What the pods of a PodGroup are disrupted with, as one; undefined where they are not. */
  asOne(podGroup: string): OneOfGroups | undefined {
    const group = this.podGroup(podGroup);
    const one = group && oneOf(group, this);
    if (one !== undefined) return one;
    const known = this.#lastKnown.get(podGroup);
    if (known === undefined || (this.#now?.() ?? 0) - known.at >= LAST_KNOWN_MS) return undefined;
    // What is there and says otherwise counts; what it belongs to may be missing.
    const isBroken = group?.parent !== undefined && this.composite(group.parent) === undefined;
    return group === undefined || isBroken ? known.one : undefined;
  }

  podGroupsBelow(composite: string): readonly string[] {
    const found = new Set<string>();
    this.#below(composite, found, new Set());
    return [...found].sort();
  }

  liveGroups(kind: Member['kind'], template: TemplateName, parent: string | undefined): number {
    return this.#live.get(liveKey(kind, template, parent)) ?? 0;
  }

  source(key: string): GroupSource | undefined {
    const said = this.#sources.get(key);
    if (said === undefined || said.size < 2) return said?.values().next().value;
    // The set itself knows before its StatefulSet does, and comes first by name.
    return said.get([...said.keys()].sort()[0] ?? '');
  }

  /** Names of PodGroups whose pods may belong elsewhere now, besides those that name the Workload themselves. */
  setWorkload(name: string, workload: WorkloadFacts | undefined, server: GroupServer): Set<string> {
    this.#changed();
    this.#workloads.set(server, name, workload);
    const concerned = new Set<string>();
    // A PodGroup may name the Workload on the pod's behalf.
    for (const group of this.#madeFrom.get(name) ?? []) this.#withTree({ kind: 'PodGroup', name: group }, concerned);
    return concerned;
  }

  setPodGroup(name: string, group: PodGroupFacts | undefined, server: GroupServer): Concerned {
    return this.#set({ kind: 'PodGroup', name }, this.#podGroups, group, server);
  }

  setComposite(name: string, composite: CompositeFacts | undefined, server: GroupServer): Concerned {
    return this.#set({ kind: 'CompositePodGroup', name }, this.#composites, composite, server);
  }

  /** Names of the groups of which something else is said now. */
  setSource(owner: string, said: SaidOfGroup | undefined): string[] {
    const before = this.#saidBy.get(owner);
    if (before === said?.key && deepEqual(this.#sources.get(before ?? '')?.get(owner), said?.source)) return [];
    this.#revision += 1;
    if (before !== undefined) {
      const others = this.#sources.get(before);
      others?.delete(owner);
      if (others?.size === 0) this.#sources.delete(before);
    }
    if (said === undefined) this.#saidBy.delete(owner);
    else {
      this.#saidBy.set(owner, said.key);
      this.#sources.set(said.key, (this.#sources.get(said.key) ?? new Map()).set(owner, said.source));
    }
    return [before, said?.key].filter((key) => key !== undefined);
  }

  #changed(): void {
    this.#revision += 1;
    this.#trees.clear();
  }

  #set<T extends PodGroupFacts | CompositeFacts>(
    member: Member,
    objects: Objects<T>,
    wanted: T | undefined,
    server: GroupServer,
  ): Concerned {
    const before = objects.get(member.name);
    if (wanted === undefined) this.#remember(member);
    objects.set(server, member.name, wanted);
    const after = objects.get(member.name);
    const podGroups = new Set<string>();
    // Most updates of a group are of its status, which nothing here depends on.
    if (before !== undefined && deepEqual(before, after)) return { podGroups, families: [] };
    this.#changed();
    this.#relate(member, before, -1);
    // With the tree it was in, and the one it is in now.
    if (before !== undefined) this.#withTree({ ...member, parent: before.parent }, podGroups);
    this.#relate(member, after, 1);
    this.#withTree(member, podGroups);
    const families = [before, after].flatMap((facts) => (facts === undefined ? [] : familyOf(facts, member.kind)));
    return { podGroups, families };
  }

  /** Before an object goes: what its pods are disrupted with stays known for a moment. */
  #remember(member: Member): void {
    if (this.#now === undefined) return;
    const at = this.#now();
    for (const [name, known] of this.#lastKnown) if (at - known.at >= LAST_KNOWN_MS) this.#lastKnown.delete(name);
    const podGroups = new Set<string>();
    this.#withTree(member, podGroups);
    for (const name of podGroups) {
      const group = this.podGroup(name);
      const one = group && oneOf(group, this);
      if (one !== undefined) this.#lastKnown.set(name, { one, at });
    }
  }

  #relate({ kind, name }: Member, facts: PodGroupFacts | CompositeFacts | undefined, by: 1 | -1): void {
    if (facts === undefined) return;
    const change = by === 1 ? join : leave;
    const { parent, template, terminating } = facts;
    if (template !== undefined && kind === 'PodGroup') change(this.#madeFrom, template.workload, name);
    if (parent !== undefined) change(kind === 'PodGroup' ? this.#groupsIn : this.#compositesIn, parent, name);
    if (template === undefined || terminating) return;
    const key = liveKey(kind, template, parent);
    this.#live.set(key, (this.#live.get(key) ?? 0) + by);
  }

  /** All PodGroups of the tree that a group is part of; just the PodGroup itself where it is in none. */
  #withTree({ kind, name, ...given }: Member & { readonly parent?: string | undefined }, into: Set<string>): void {
    if (kind === 'PodGroup') into.add(name);
    const seen = new Set<string>();
    let root = kind === 'PodGroup' ? undefined : name;
    const parentOf = (composite: string): string | undefined => this.#composites.get(composite)?.parent;
    const first = 'parent' in given ? given.parent : kind === 'PodGroup' ? this.podGroup(name)?.parent : parentOf(name);
    for (let parent = first; parent !== undefined && !seen.has(parent); parent = parentOf(parent)) {
      seen.add(parent);
      root = parent;
    }
    if (root !== undefined) this.#below(root, into, new Set());
  }

  #below(composite: string, into: Set<string>, seen: Set<string>): void {
    if (seen.has(composite)) return;
    seen.add(composite);
    for (const group of this.#groupsIn.get(composite) ?? []) into.add(group);
    for (const child of this.#compositesIn.get(composite) ?? []) this.#below(child, into, seen);
  }
}

const liveKey = (kind: Member['kind'], { name, workload }: TemplateName, parent = ''): string =>
  `${kind}/${workload}/${name}/${parent}`;

function facts<T>(names: Iterable<string> | undefined, objects: Objects<T>): T[] {
  return [...(names ?? [])].map((name) => objects.get(name)).filter((one) => one !== undefined);
}
