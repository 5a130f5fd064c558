import { controllerOf } from '../../api/core/owner.ts';
import { isPodFinished, isPodReady } from '../../api/core/pod-state.ts';
import type { Node, Pod } from '../../api/generated/core-v1.ts';
import { claimOf, currentStep, readClaim } from '../maintenance/index.ts';
import { computeDesired, type DisruptionIndex } from '../disruption/index.ts';
import { idOf, UnitFinder, type UnitSources } from '../drain-question/index.ts';
import { type Cluster, podFacts } from '../placement/index.ts';
import {
  budgetId,
  drainId,
  groupId,
  type KeptRoom,
  roomAwayId,
  roomId,
  type WaitedBudget,
  type WaitedGroup,
  type WaitedRoom,
  type WaitState,
} from './model.ts';
import { WaitingPlaces } from './places.ts';
import type { ReadDrain } from './read-drain.ts';

export interface WaitFacts {
  readonly now: number;
  readonly drains: readonly ReadDrain[];
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly groups: UnitSources;
  /** Nodes, volumes and devices; pods are placed here. */
  readonly cluster: Cluster;
  /** Taints by which drains mark nodes; they go with them. */
  readonly markers: ReadonlySet<string>;
  /** Somebody adds nodes, or nobody can tell whether. */
  readonly grows: boolean;
}

/** Who waits for whom, from what drains say and what is in the cluster now. */
export function readWaits(facts: WaitFacts): WaitState {
  return new WaitReader(facts).read();
}

class WaitReader {
  readonly #facts: WaitFacts;
  readonly #places: WaitingPlaces;
  readonly #byId: ReadonlyMap<string, Pod>;
  readonly #kept: readonly {
    readonly drain: string;
    readonly node: Node;
    readonly isDrained: boolean;
    readonly comesBack: boolean;
  }[];
  readonly #groups = new Map<string, WaitedGroup>();
  readonly #rooms = new Map<string, WaitedRoom>();
  #members: ReadonlyMap<string, readonly Pod[]> | undefined;

  constructor(facts: WaitFacts) {
    const { cluster, drains, markers, nodes, pods } = facts;
    this.#facts = facts;
    for (const pod of pods) {
      const node = pod.spec?.nodeName ?? '';
      if (node !== '' && !isPodFinished(pod)) cluster.place(podFacts(pod, cluster.resources), node);
    }
    this.#places = new WaitingPlaces(cluster, markers);
    this.#byId = new Map(pods.map((pod) => [idOf(pod), pod]));
    this.#kept = drains.flatMap(({ id, isOurs, maintenance }) =>
      nodes.flatMap((node) => {
        const name = node.metadata.name ?? '';
        const { spec, status } = maintenance;
        const isKept = isOurs
          ? readClaim(node).holder === claimOf(maintenance)
          : spec?.nodes.names?.includes(name) === true;
        if (!isKept) return [];
        const isDrained = status?.nodes?.find((one) => one.name === name)?.state === 'Drained';
        // Who brings a drained node back is somebody else, whatever the drain waits for.
        const comesBack = isDrained && isOurs && spec?.nodesReturn === true && spec.uncordon !== 'WhenDrained';
        return [{ drain: id, node, isDrained, comesBack }];
      }),
    );
  }

  read(): WaitState {
    const { drains, groups } = this.#facts;
    const budgets = new Map<string, WaitedBudget>();
    for (const { budgets: named } of drains) {
      for (const { kind, name, namespace } of named) {
        const id = budgetId(kind, namespace, name);
        const read = kind === 'PodDisruptionBudget' ? this.#budget(groups.index, id, namespace, name) : undefined;
        if (read !== undefined) budgets.set(id, read);
      }
    }
    for (const drain of drains) {
      for (const group of drain.groups) this.#readGroup(group, this.#missingOf(drain, group));
      for (const group of drain.homeless) this.#readRoom(roomAwayId(group, drain.id), this.#membersOf(group), drain.id);
    }
    return {
      drains,
      budgets: [...budgets.values()],
      groups: [...this.#groups.values()],
      rooms: [...this.#rooms.values()],
    };
  }

  /** Undefined where there is no such budget any more: what waits for it gets on. */
  #budget(index: DisruptionIndex, id: string, namespace: string, name: string): WaitedBudget | undefined {
    const { now } = this.#facts;
    const count = index.count(namespace, name, now);
    if (count === undefined) return undefined;
    const inGroups = count.mode.unit === 'PodGroup';
    const { budget, healthy } = count;
    const expected = inGroups ? count.expectedUnits : budget.status.expectedPods;
    const desired = inGroups ? computeDesired(budget, expected) : budget.status.desiredHealthy;
    const units = index.shortOf(namespace, name, now);
    const short = units.map(({ members, minCount, missing, name: group }) => {
      const pods = missing.flatMap(({ pod }) => this.#byId.get(`${namespace}/${pod.name}`) ?? []);
      const called = `${namespace}/${group ?? missing[0]?.pod.name ?? ''}`;
      // Pods that nobody has made yet, and evictions that may not be carried out, say nothing about room.
      const isUnsure = members < minCount || missing.some(({ evicting }) => evicting);
      this.#readGroup(called, isUnsure ? [] : pods);
      return groupId(called);
    });
    // Groups or pods that are declared and not there at all may come.
    const unseen = Math.max(0, expected - healthy - units.length);
    return { id, lacks: Math.max(0, desired + 1 - healthy - unseen), short };
  }

  #readGroup(group: string, missing: readonly Pod[]): void {
    const id = groupId(group);
    if (this.#groups.has(id)) return;
    const waiting = missing.filter(
      ({ metadata, spec }) =>
        !spec?.nodeName && metadata.deletionTimestamp === undefined && (spec?.schedulingGates ?? []).length === 0,
    );
    const homeless = this.#places.homeless(waiting);
    this.#groups.set(id, { id, isLive: homeless.length === 0, waitsFor: homeless.length === 0 ? [] : [roomId(group)] });
    if (homeless.length > 0) this.#readRoom(roomId(group), homeless);
  }

  /** Room for pods of a group: the nodes of drains that would take one of them. */
  #readRoom(id: string, pods: readonly Pod[], awayFrom?: string): void {
    if (this.#rooms.has(id)) return;
    const keptBy = new Map<string, KeptRoom>();
    let comes = this.#facts.grows;
    for (const { comesBack, drain, isDrained, node } of this.#kept) {
      if (drain === awayFrom) continue;
      for (const pod of pods) {
        const { asItIs, whenEmpty } = this.#places.takes(pod, node);
        if (!whenEmpty) continue;
        comes ||= comesBack;
        const opens = asItIs && !isDrained;
        keptBy.set(drain, { drain, opensWhenPaused: opens || keptBy.get(drain)?.opensWhenPaused === true });
      }
    }
    this.#rooms.set(id, { id, isLive: comes, keptBy: [...keptBy.values()] });
  }

  /** Members of a group of a step that are not Ready. A pod on its own comes back under another name. */
  #missingOf({ maintenance }: ReadDrain, group: string): Pod[] {
    const eviction = currentStep(maintenance)?.evictions.find((one) => one.group === group);
    const [first] = eviction?.pods ?? [];
    const isAlone = first !== undefined && group === `${first.namespace}/${first.name}`;
    const owner = first?.controller?.uid;
    const members = isAlone
      ? this.#facts.pods.filter((pod) => owner !== undefined && controllerOf(pod)?.uid === owner)
      : this.#membersOf(group);
    return members.filter((pod) => !isPodFinished(pod) && !isPodReady(pod));
  }

  #membersOf(group: string): readonly Pod[] {
    this.#members ??= this.#findMembers();
    return this.#members.get(group) ?? [];
  }

  #findMembers(): ReadonlyMap<string, readonly Pod[]> {
    const { groups, now, pods } = this.#facts;
    const finder = new UnitFinder(groups, pods, now);
    const found = new Map<string, Pod[]>();
    for (const pod of pods) {
      const { unit } = finder.find(pod);
      const known = found.get(unit.id);
      if (known === undefined) found.set(unit.id, [pod]);
      else known.push(pod);
    }
    return found;
  }
}

/** The names of other Maintenances in a deadlock. */
export function othersIn(drains: readonly string[], name: string): string[] {
  return drains.filter((id) => id !== drainId(name)).map((id) => id.slice(drainId('').length));
}
