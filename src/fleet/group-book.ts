import { controllerOf } from '../api/core/owner.ts';
import type { Pod } from '../api/generated/core-v1.ts';
import { type DisruptionIndex, EVERYTHING, isUp, setGroupOf } from '../decisions/disruption/index.ts';
import { type Mark, markOf } from './marks.ts';

/** What groups are worked out from. */
export interface GroupSources {
  readonly pods: ReadonlyMap<string, Pod>;
  readonly index: DisruptionIndex;
  readonly every: DisruptionIndex;
}

/** A group of pods as the page shows it; pods that belong to none are shown together by what owns them. */
export interface ShownGroup {
  /** `namespace/name`, unlike every other's. */
  readonly id: string;
  readonly namespace: string;
  /** Such as `PodGroup/gang-0`. */
  readonly name: string;
  /** Each pod stands for itself. */
  readonly single: boolean;
  readonly healthy: number;
  readonly needed: number;
  readonly mark: Mark;
  /** Keys of its pods, in order. */
  readonly members: readonly string[];
  /** Members by node; those without one are under ''. */
  readonly nodes: ReadonlyMap<string, number>;
}

/** Which pod is in which group, kept as pods come and go. */
export class GroupBook {
  readonly #fleet: GroupSources;
  readonly #groupOf = new Map<string, string>();
  readonly #members = new Map<string, Set<string>>();
  readonly #groups = new Map<string, ShownGroup>();
  readonly #touchedPods = new Set<string>();
  readonly #touchedGroups = new Set<string>();
  /** Namespaces where groups themselves have changed. */
  readonly #regroup = new Set<string>();
  /** Moves when a group comes, goes or gets to another node. */
  layoutRevision = 0;

  constructor(fleet: GroupSources) {
    this.#fleet = fleet;
  }

  touch(pod: string): void {
    this.#touchedPods.add(pod);
  }

  forget(pod: string): void {
    this.#touchedPods.delete(pod);
    this.#leave(pod);
  }

  regroup(namespace: string): void {
    this.#regroup.add(namespace);
  }

  all(): ReadonlyMap<string, ShownGroup> {
    return this.#groups;
  }

  ofPod(pod: string): ShownGroup | undefined {
    return this.#groups.get(this.#groupOf.get(pod) ?? '');
  }

  settle(now: number): void {
    if (this.#regroup.size > 0) {
      for (const [key, { metadata }] of this.#fleet.pods) {
        if (this.#regroup.has(metadata.namespace ?? '')) this.#touchedPods.add(key);
      }
      this.#regroup.clear();
    }
    for (const key of this.#touchedPods) {
      const pod = this.#fleet.pods.get(key);
      if (pod !== undefined) this.#place(key, this.#idOf(pod, now));
    }
    this.#touchedPods.clear();
    for (const id of this.#touchedGroups) this.#count(id, now);
    this.#touchedGroups.clear();
  }

  #idOf(pod: Pod, now: number): string {
    const { name = '', namespace = '', labels } = pod.metadata;
    const { every } = this.#fleet;
    const unit = every.ask(namespace, name, now)?.views[0]?.unit;
    const called = (unit && every.unitName(namespace, name, EVERYTHING)) ?? setGroupOf(labels);
    if (called !== undefined) return `${namespace}/${called}`;
    const owner = controllerOf(pod);
    return `${namespace}/${owner === undefined ? 'Pod' : owner.kind}/${owner?.name ?? name} (single pods)`;
  }

  #place(pod: string, id: string): void {
    this.#touchedGroups.add(id);
    if (this.#groupOf.get(pod) === id) return;
    this.#leave(pod);
    this.#groupOf.set(pod, id);
    const members = this.#members.get(id);
    if (members === undefined) this.#members.set(id, new Set([pod]));
    else members.add(pod);
  }

  #leave(pod: string): void {
    const id = this.#groupOf.get(pod);
    if (id === undefined) return;
    this.#groupOf.delete(pod);
    this.#members.get(id)?.delete(pod);
    this.#touchedGroups.add(id);
  }

  #count(id: string, now: number): void {
    const members = [...(this.#members.get(id) ?? [])].sort();
    if (members.length === 0) {
      this.#members.delete(id);
      if (this.#groups.delete(id)) this.layoutRevision += 1;
      return;
    }
    const before = this.#groups.get(id);
    const group = this.#describe(id, members, now);
    this.#groups.set(id, group);
    if (before === undefined || !isSame(before.nodes, group.nodes)) this.layoutRevision += 1;
  }

  #describe(id: string, members: readonly string[], now: number): ShownGroup {
    const { every, index, pods } = this.#fleet;
    const nodes = new Map<string, number>();
    let up = 0;
    let going = 0;
    let starting = 0;
    let counted: { healthy: number; minCount: number } | undefined;
    const slash = id.indexOf('/');
    const namespace = id.slice(0, slash);
    for (const key of members) {
      const pod = pods.get(key);
      const podName = key.slice(slash + 1);
      const facts = index.pod(namespace, podName);
      if (pod === undefined || facts === undefined) continue;
      nodes.set(facts.nodeName, (nodes.get(facts.nodeName) ?? 0) + 1);
      if (facts.deletionTimestamp !== undefined) going += 1;
      else if (isUp(facts)) up += 1;
      else if (facts.phase === 'Pending' || facts.nodeName === '') starting += 1;
      counted ??= every.ask(namespace, podName, now)?.views[0]?.unit;
    }
    const single = id.endsWith('(single pods)');
    const healthy = counted?.healthy ?? up;
    const needed = counted?.minCount ?? members.length;
    const mark = markOf({ healthy, needed, members: members.length, going, starting });
    return { id, namespace, name: id.slice(slash + 1), single, healthy, needed, mark, members, nodes };
  }
}

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
