import type { Pod } from '../api/generated/core-v1.ts';
import { isPodFinished } from '../api/core/pod-state.ts';
import { groupIdOf, type Cluster, type PodFacts, podFacts } from '../decisions/gang/index.ts';
import { type GroupLink, readGroupLink } from '../decisions/disruption/index.ts';
import { deepEqual } from '../machinery/values/index.ts';

/** Where a pod stands: waiting for a node, given one that is not confirmed yet, or bound. */
export type Standing = 'pending' | 'assumed' | 'assigned';

export interface KnownPod {
  pod: Pod;
  facts: PodFacts;
  readonly link: GroupLink | undefined;
  readonly group: string | undefined;
  standing: Standing;
  /** The node of an assumed or assigned pod. */
  node: string | undefined;
  /** When it first waited for a node; milliseconds. */
  readonly since: number;
  attempts: number;
}

/** What an observation changed; `undefined` standing means absent. */
export interface PodChange {
  readonly known: KnownPod | undefined;
  readonly before: { readonly standing: Standing | undefined; readonly pod: Pod | undefined };
}

/**
 * Every pod that has not finished, and the groups they form. Keeps the cluster in step: a pod takes room on its node
 * from the moment it is assumed until it is gone.
 */
export class PodBook {
  readonly #cluster: Cluster;
  readonly #inGroups: boolean;
  readonly #pods = new Map<string, KnownPod>();
  readonly #groups = new Map<string, Set<KnownPod>>();

  /** `inGroups` false: every pod stands alone, whatever group it names. */
  constructor(cluster: Cluster, inGroups = true) {
    this.#cluster = cluster;
    this.#inGroups = inGroups;
  }

  get(uid: string): KnownPod | undefined {
    return this.#pods.get(uid);
  }

  /** All members of a group that have not finished, placed or not. */
  members(group: string): KnownPod[] {
    return [...(this.#groups.get(group) ?? [])];
  }

  /** A member of each group of a namespace. */
  *groupsIn(namespace: string): Generator<KnownPod> {
    for (const members of this.#groups.values()) {
      const [first] = members;
      if (first?.facts.namespace === namespace) yield first;
    }
  }

  observe(pod: Pod, now: number): PodChange {
    const uid = uidOf(pod);
    if (isPodFinished(pod)) return this.forget(uid);
    const old = this.#pods.get(uid);
    const before = { standing: old?.standing, pod: old?.pod };
    const known = old ?? this.#meet(pod, now);
    if (old !== undefined) {
      if (hasNewFacts(old.pod, pod)) known.facts = podFacts(pod, this.#cluster.resources, known.group);
      // Others may promise a node too, such as room that was held for it; what was promised here comes first.
      const promised = pod.status?.nominatedNodeName ?? '';
      const isNews = promised !== '' && promised !== (old.pod.status?.nominatedNodeName ?? '');
      if (isNews && this.#cluster.nomination(uid) === undefined) this.#cluster.nominate(known.facts, promised);
      known.pod = pod;
    }
    const node = pod.spec?.nodeName || undefined;
    if (node !== undefined) {
      known.standing = 'assigned';
      known.node = node;
      this.#cluster.withdrawNomination(uid);
    }
    const place = known.node;
    if (place !== undefined && this.#cluster.placed(uid)?.pod !== known.facts) this.#cluster.place(known.facts, place);
    return { known, before };
  }

  forget(uid: string): PodChange {
    const known = this.#pods.get(uid);
    if (known !== undefined) {
      this.#pods.delete(uid);
      if (known.group !== undefined) {
        const members = this.#groups.get(known.group);
        members?.delete(known);
        if (members?.size === 0) this.#groups.delete(known.group);
      }
      this.#cluster.remove(uid);
      this.#cluster.withdrawNomination(uid);
    }
    return { known: undefined, before: { standing: known?.standing, pod: known?.pod } };
  }

  assume(known: KnownPod, node: string): void {
    known.standing = 'assumed';
    known.node = node;
    this.#cluster.place(known.facts, node);
  }

  /** Takes back an assumption; a pod bound meanwhile keeps its node. */
  release(known: KnownPod): void {
    if (known.standing !== 'assumed') return;
    known.standing = 'pending';
    known.node = undefined;
    this.#cluster.remove(known.facts.uid);
  }

  #meet(pod: Pod, now: number): KnownPod {
    const link = this.#inGroups ? readGroupLink(pod) : undefined;
    const group = link && groupIdOf(pod.metadata.namespace ?? '', link);
    const facts = podFacts(pod, this.#cluster.resources, group);
    const known: KnownPod = {
      pod,
      facts,
      link,
      group,
      standing: 'pending',
      node: undefined,
      since: now,
      attempts: 0,
    };
    this.#pods.set(facts.uid, known);
    if (group !== undefined) {
      const members = this.#groups.get(group) ?? new Set();
      members.add(known);
      this.#groups.set(group, members);
    }
    const promised = pod.status?.nominatedNodeName;
    if (promised && !pod.spec?.nodeName) this.#cluster.nominate(facts, promised);
    return known;
  }
}

export const uidOf = ({ metadata }: Pod): string => metadata.uid ?? `${metadata.namespace}/${metadata.name}`;

/** Whether the spec changed. Servers count changes, binding aside, which moves no pod that is placed already. */
export function hasNewSpec(old: Pod, pod: Pod): boolean {
  const { generation } = pod.metadata;
  if (generation !== undefined && old.metadata.generation !== undefined) return generation !== old.metadata.generation;
  return !deepEqual(old.spec, pod.spec);
}

/** What a container has been given counts beside what it asks for, once it is resized in place. */
function isResized({ status: old }: Pod, { status }: Pod): boolean {
  const given = (one: Pod['status']): unknown =>
    one?.containerStatuses?.map(({ allocatedResources, resources }) => [resources?.requests, allocatedResources]);
  const refused = (one: Pod['status']): unknown =>
    one?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason;
  return refused(old) !== refused(status) || !deepEqual(given(old), given(status));
}

/** Status updates, by far the most, change nothing the scheduler works with. */
function hasNewFacts(old: Pod, pod: Pod): boolean {
  return (
    hasNewSpec(old, pod) ||
    !deepEqual(old.metadata.labels, pod.metadata.labels) ||
    Boolean(old.metadata.deletionTimestamp) !== Boolean(pod.metadata.deletionTimestamp) ||
    old.status?.startTime !== pod.status?.startTime ||
    isResized(old, pod)
  );
}
