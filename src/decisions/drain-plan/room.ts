import {
  ask as askNode,
  type Assignment,
  checkNode,
  type GroupAsk,
  type PodFacts,
  settle,
  type Tried,
  type TopologyRule,
  tryGroup,
} from '../placement/index.ts';
import type { PlanPod, PlanQuestion, PlanUnit } from './model.ts';

/** Pods of one unit that go together. */
export interface Part {
  readonly unit: PlanUnit;
  readonly pods: readonly PlanPod[];
}

export type Moved = Extract<Tried, { fits: 'Yes' }>;

/** What goes with a part, and where it stood. */
interface Leave {
  readonly leaving: readonly PlanPod[];
  readonly freed: readonly Assignment[];
}

/**
 * The cluster while a plan is made: nodes to drain are closed, pods that have moved stand in their new places. Every
 * change is noted and can be taken back.
 */
export class Room {
  readonly #question: PlanQuestion;
  readonly #members = new Map<string, PlanPod[]>();
  /** Units by the composites that hold them to one domain. */
  readonly #among = new Map<string, string[]>();
  readonly #undo: (() => void)[] = [];
  readonly #held: (() => void)[] = [];
  /** Room that is kept by name: the nodes it is on, and how it is kept again. */
  readonly #kept = new Map<string, { readonly nodes: readonly string[]; readonly set: readonly (() => void)[] }>();

  constructor(question: PlanQuestion) {
    this.#question = question;
    for (const pod of question.pods) {
      const members = this.#members.get(pod.unit);
      if (members === undefined) this.#members.set(pod.unit, [pod]);
      else members.push(pod);
    }
    for (const { id, topology = [] } of question.units) {
      for (const { among } of topology) {
        if (among !== undefined) this.#among.set(among, [...(this.#among.get(among) ?? []), id]);
      }
    }
    for (const { drain, name } of question.nodes) if (drain) this.#setClosed(name, true);
  }

  mark(): number {
    return this.#undo.length;
  }

  rollback(mark = 0): void {
    for (const back of this.#undo.splice(mark).reverse()) back();
  }

  /** Tries something and takes it back. */
  trial<T>(look: () => T): T {
    const mark = this.mark();
    const answer = look();
    this.rollback(mark);
    return answer;
  }

  /** An emptied node takes pods again. */
  open(name: string): void {
    this.#setClosed(name, false);
  }

  /** Room that units of a step have freed on nodes that stay is free for others only when the step is over. */
  endStep(): void {
    for (const release of this.#held.splice(0)) release();
  }

  /**
   * Takes the pods of a unit off their nodes and finds places for all that has to come back, at once; undefined, with
   * nothing changed, when there are none.
   */
  move(part: Part): Moved | undefined {
    const mark = this.mark();
    const { answer, freed } = this.#take(part);
    if (answer.fits !== 'Yes') {
      this.rollback(mark);
      return undefined;
    }
    for (const { node, pod } of answer.where) this.#put(pod, node);
    this.#hold(part.unit.id, freed, answer.where);
    return answer;
  }

  /** All of the parts, or none. */
  moveAll(parts: readonly Part[]): readonly Moved[] | undefined {
    const mark = this.mark();
    const moved: Moved[] = [];
    for (const part of parts) {
      const answer = this.move(part);
      if (answer === undefined) {
        this.rollback(mark);
        return undefined;
      }
      moved.push(answer);
    }
    return moved;
  }

  /**
   * Takes all of the parts off their nodes before the first is placed again, so that each may go where another was; all
   * of them, in this order, or none.
   */
  exchange(parts: readonly Part[]): readonly Moved[] | undefined {
    const mark = this.mark();
    const left = parts.map((part) => this.#leave(part));
    const moved: Moved[] = [];
    for (const [at, part] of parts.entries()) {
      const answer = tryGroup(this.#askFor(part, left[at] as Leave), this.#question.cluster);
      if (answer.fits !== 'Yes') {
        this.rollback(mark);
        return undefined;
      }
      for (const { node, pod } of answer.where) this.#put(pod, node);
      moved.push(answer);
    }
    return moved;
  }

  /** Whether a unit leaves room on nodes that stay when these pods of it go. */
  leavesRoom(part: Part): boolean {
    const { cluster } = this.#question;
    return this.trial(() => this.#leave(part).freed.some(({ node }) => cluster.node(node)?.closed === false));
  }

  /** The questions that parts ask while all of them are off their nodes, put to whoever explains them. */
  askAmong<T>(parts: readonly Part[], look: (asks: readonly GroupAsk[]) => T): T {
    return this.trial(() => {
      const left = parts.map((part) => this.#leave(part));
      return look(parts.map((part, at) => this.#askFor(part, left[at] as Leave)));
    });
  }

  /**
   * Does once more what a trial has found for a part; undefined, with nothing changed, where that does not hold any
   * more.
   */
  repeat({ pods, unit }: Part, moved: readonly Moved[]): readonly Moved[] | undefined {
    const { cluster } = this.#question;
    const mark = this.mark();
    const leaving = new Set(pods.map(({ facts }) => facts.uid));
    for (const { where } of moved) for (const { pod } of where) leaving.add(pod.uid);
    const members = this.#members.get(unit.id) ?? [];
    const freed = this.#standing(members.filter(({ facts }) => leaving.has(facts.uid)));
    for (const uid of leaving) this.#remove(uid);
    // Where a part was moved in turns, the last place of a pod counts.
    const where = [...new Map(moved.flatMap((one) => one.where.map((place) => [place.pod.uid, place]))).values()];
    for (const { node: name, pod } of where) {
      const node = cluster.node(name);
      if (node === undefined || checkNode(askNode(pod, cluster, unit.id), node) !== undefined) {
        this.rollback(mark);
        return undefined;
      }
      this.#put(pod, name);
    }
    this.#hold(unit.id, freed, where);
    return moved;
  }

  /** Keeps the room of these places from everybody, under a name, until it is released. */
  keep(name: string, where: readonly Assignment[]): void {
    const { cluster } = this.#question;
    const byNode = new Map<string, PodFacts[]>();
    for (const { node, pod } of where) {
      const pods = byNode.get(node);
      if (pods === undefined) byNode.set(node, [pod]);
      else pods.push(pod);
    }
    const kept: (() => void)[] = [];
    for (const [at, pods] of byNode) {
      const node = cluster.node(at);
      if (node === undefined) continue;
      const sums: number[] = [];
      for (const { requests } of pods) for (const { amount, slot } of requests) sums[slot] = (sums[slot] ?? 0) + amount;
      const amounts = sums.flatMap((amount, slot) => (amount > 0 ? [{ slot, amount }] : []));
      const hold = { unit: name, amounts, pods: pods.length };
      kept.push(() => cluster.setHold(node, name, hold));
      this.#undo.push(() => cluster.setHold(node, name, undefined));
    }
    for (const set of kept) set();
    this.#kept.set(name, { nodes: [...byNode.keys()], set: kept });
    this.#undo.push(() => this.#kept.delete(name));
  }

  keeps(name: string): boolean {
    return this.#kept.has(name);
  }

  /** Gives back what is kept under a name. */
  release(name: string): void {
    const { cluster } = this.#question;
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    for (const at of kept.nodes) {
      const node = cluster.node(at);
      if (node !== undefined) cluster.setHold(node, name, undefined);
    }
    this.#kept.delete(name);
    this.#undo.push(() => {
      for (const set of kept.set) set();
      this.#kept.set(name, kept);
    });
  }

  /** The question that a part asks, put to whoever explains it. */
  ask<T>(part: Part, look: (ask: GroupAsk) => T): T {
    return this.trial(() => look(this.#prepare(part).ask));
  }

  /** Puts a part where it was decided elsewhere, if that holds. */
  put(part: Part, where: ReadonlyMap<string, string>): Moved | undefined {
    const mark = this.mark();
    const { answer, freed } = this.#take(part);
    if (answer.fits !== 'Yes') {
      this.rollback(mark);
      return undefined;
    }
    // Members that restart only because the others do go back where they were.
    const before = new Map(freed.map(({ node, pod }) => [pod.uid, node]));
    for (const { facts } of part.pods) before.delete(facts.uid);
    const places = answer.where.map(({ node, pod }) => ({
      pod,
      node: where.get(pod.uid) ?? before.get(pod.uid) ?? node,
    }));
    for (const { node, pod } of places) this.#put(pod, node);
    this.#hold(part.unit.id, freed, places);
    return { ...answer, where: places };
  }

  #take(part: Part): { answer: Tried; freed: readonly Assignment[] } {
    const { ask, freed } = this.#prepare(part);
    return { answer: tryGroup(ask, this.#question.cluster), freed };
  }

  /** Where pods stand by now: some have moved before. */
  #standing(pods: readonly PlanPod[]): Assignment[] {
    return pods.flatMap(({ facts }) => {
      const placed = this.#question.cluster.placed(facts.uid);
      return placed === undefined ? [] : [{ pod: placed.pod, node: placed.node.name }];
    });
  }

  #prepare(part: Part): { ask: GroupAsk; freed: readonly Assignment[] } {
    const leave = this.#leave(part);
    return { ask: this.#askFor(part, leave), freed: leave.freed };
  }

  /** Takes off their nodes all members of a unit that go when a part of it goes. */
  #leave({ pods, unit }: Part): Leave {
    const { cluster } = this.#question;
    const members = this.#members.get(unit.id) ?? [];
    const going = new Set(pods);
    // What restarts as a whole makes its members on nodes that stay again as well; those on nodes that go have a step
    // of their own where the unit does not go at once.
    const restarts = unit.wholesale && unit.healthy >= unit.needed;
    const leaving = restarts
      ? members.filter((pod) => going.has(pod) || cluster.placed(pod.facts.uid)?.node.closed === false)
      : pods;
    const freed = this.#standing(leaving);
    for (const { pod } of freed) this.#remove(pod.uid);
    return { leaving, freed };
  }

  #askFor({ unit }: Part, { freed, leaving }: Leave): GroupAsk {
    const { cluster, searches } = this.#question;
    const gone = new Set(leaving);
    const zones = new Map<string, string>();
    for (const { node, pod } of freed) {
      const zone = cluster.node(node)?.zone;
      if (zone !== undefined) zones.set(pod.uid, zone);
    }
    const members = this.#members.get(unit.id) ?? [];
    const staying = members.flatMap((pod) => (gone.has(pod) ? [] : (cluster.placed(pod.facts.uid)?.node.name ?? [])));
    return {
      unit: unit.id,
      pods: leaving.flatMap(({ replacement }) => replacement ?? []),
      need: 'all',
      staying,
      zones,
      ...(unit.topology && { topology: unit.topology.map((rule) => this.#pinned(rule, unit.id)) }),
      ...(unit.apart === true && { apart: true }),
      ...(unit.assumptions && { assumptions: unit.assumptions }),
      ...(searches && { searches }),
    };
  }

  /** Where the other groups of a composite stand now, to which this one must keep. */
  #pinned(rule: TopologyRule, unit: string): TopologyRule {
    const others = this.#among.get(rule.among ?? '')?.filter((other) => other !== unit) ?? [];
    const { cluster } = this.#question;
    const pins = others.flatMap((other) =>
      (this.#members.get(other) ?? []).flatMap(({ facts }) => cluster.placed(facts.uid)?.node.name ?? []),
    );
    return pins.length === 0 ? rule : { ...rule, pins };
  }

  #setClosed(name: string, closed: boolean): void {
    const { cluster } = this.#question;
    if (cluster.node(name)?.closed === closed) return;
    cluster.setClosed(name, closed);
    this.#undo.push(() => cluster.setClosed(name, !closed));
  }

  #remove(uid: string): void {
    const { cluster } = this.#question;
    const placed = cluster.placed(uid);
    if (placed === undefined) return;
    cluster.remove(uid);
    this.#undo.push(() => cluster.place(placed.pod, placed.node.name));
  }

  #put(pod: PodFacts, name: string): void {
    const { cluster } = this.#question;
    const node = cluster.node(name);
    if (node === undefined) return;
    settle(pod, node, cluster);
    this.#undo.push(() => cluster.remove(pod.uid));
  }

  /** Keeps what a unit has left behind on nodes that stay from others, until the step is over. */
  #hold(unit: string, freed: readonly Assignment[], where: readonly Assignment[]): void {
    const { cluster } = this.#question;
    const left = new Map<string, number[]>();
    const count = (name: string, { requests }: PodFacts, sign: 1 | -1): void => {
      const amounts = left.get(name) ?? [];
      for (const { amount, slot } of requests) amounts[slot] = (amounts[slot] ?? 0) + sign * amount;
      left.set(name, amounts);
    };
    for (const { node, pod } of freed) if (cluster.node(node)?.closed === false) count(node, pod, 1);
    if (left.size === 0) return;
    for (const { node, pod } of where) if (left.has(node)) count(node, pod, -1);
    for (const [name, amounts] of left) {
      const kept = amounts.flatMap((amount, slot) => (amount > 0 ? [{ slot, amount }] : []));
      const node = cluster.node(name);
      if (kept.length === 0 || node === undefined) continue;
      const key = `left by ${unit}`;
      cluster.setHold(node, key, { unit, amounts: kept, pods: 0 });
      const release = (): void => cluster.setHold(node, key, undefined);
      this.#held.push(release);
      this.#undo.push(release);
    }
  }
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
