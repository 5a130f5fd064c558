import { ask, checkNode, freeVector, isBlind, type NodeFacts, settle, takenBy } from '../placement/index.ts';
import type { PlanPod, PlanQuestion } from './model.ts';
import type { Move } from './moves.ts';

/** A pod that has moved, with the nodes that were open when it did. */
export interface Parcel {
  readonly pod: PlanPod;
  /** A bit for each node, in the order of `PlanQuestion.nodes`. */
  readonly open: number;
  readonly move: Move;
  /** Which pods went together: those with the same number. */
  readonly turn: number;
}

/** Tries this many placements before it gives up and says that there is none. */
const MAX_TRIES = 20_000;

/**
 * Finds nodes for pods that have moved: one for each parcel, by UID, each open to it then, so that all of them fit;
 * undefined when there is no way. Where pods look at each other they go in turn, and the cluster is asked for each;
 * otherwise the large ones are placed first and it is a matter of numbers.
 */
export class Packing {
  readonly #question: PlanQuestion;
  readonly #numbers: Numbers | undefined;
  #looks = 0;

  constructor(question: PlanQuestion, moves: readonly Move[]) {
    this.#question = question;
    const { cluster } = question;
    const blind = moves.every(
      ({ pods, unit }) =>
        unit.topology === undefined &&
        pods.every(
          ({ replacement }) =>
            replacement !== undefined && replacement.hostPorts.length === 0 && isBlind(replacement, cluster),
        ),
    );
    if (blind) this.#numbers = new Numbers(question, moves);
  }

  pack(parcels: readonly Parcel[]): ReadonlyMap<string, string> | undefined {
    if (this.#numbers !== undefined) return this.#numbers.pack(inSize(parcels));
    const { cluster, nodes: names } = this.#question;
    const nodes = names.map(({ name }) => cluster.node(name));
    const closed = nodes.flatMap((node) => (node?.closed === true ? [node.name] : []));
    for (const name of closed) cluster.setClosed(name, false);
    const packer = new Packer(this.#question, nodes);
    const answer = packer.place(byTurn(parcels));
    for (const name of closed) cluster.setClosed(name, true);
    this.#looks += packer.looks;
    return answer;
  }

  /** How often the cluster was asked whether a node takes a pod, in all: what packing costs. */
  get looks(): number {
    return this.#looks;
  }
}

/** Room as numbers, for pods that look at no others. */
class Numbers {
  readonly #names: readonly string[];
  #capacity: readonly (readonly number[])[] = [];
  /** Nodes that would take a pod of a shape, were nothing else to move; a bit for each. */
  readonly #eligible = new Map<string, number>();
  readonly #taken = new Map<string, ReturnType<typeof takenBy>>();

  constructor({ cluster, nodes }: PlanQuestion, moves: readonly Move[]) {
    const pods = moves.flatMap((move) => move.pods);
    const slots = cluster.resources.names.length;
    this.#names = nodes.map(({ name }) => name);
    withoutMoving(cluster, pods, nodes, () => {
      this.#capacity = nodes.map(({ name }) => {
        const node = cluster.node(name);
        return node === undefined ? [] : freeVector(node, slots);
      });
      for (const { replacement } of pods) {
        if (replacement === undefined || this.#eligible.has(replacement.shape)) continue;
        const question = ask(replacement, cluster);
        const mask = nodes.reduce((bitsSoFar, { name }, at) => {
          const node = cluster.node(name);
          return node !== undefined && checkNode(question, node) === undefined ? bitsSoFar | (1 << at) : bitsSoFar;
        }, 0);
        this.#eligible.set(replacement.shape, mask);
        this.#taken.set(replacement.shape, takenBy(replacement, slots));
      }
    });
  }

  pack(ordered: readonly Parcel[]): ReadonlyMap<string, string> | undefined {
    const free = this.#capacity.map((amounts) => [...amounts]);
    const where = new Map<string, string>();
    let tries = 0;
    const fit = (at: number): boolean => {
      const parcel = ordered[at];
      if (parcel === undefined) return true;
      const { shape = '', uid = '' } = parcel.pod.replacement ?? {};
      const taken = this.#taken.get(shape) ?? [];
      const open = parcel.open & (this.#eligible.get(shape) ?? 0);
      for (const [index, room] of free.entries()) {
        if ((open & (1 << index)) === 0 || !taken.every(([slot, amount]) => amount <= (room[slot] ?? 0))) continue;
        if ((tries += 1) > MAX_TRIES) return false;
        for (const [slot, amount] of taken) room[slot] = (room[slot] ?? 0) - amount;
        if (fit(at + 1)) {
          where.set(uid, this.#names[index] ?? '');
          return true;
        }
        for (const [slot, amount] of taken) room[slot] = (room[slot] ?? 0) + amount;
      }
      return false;
    };
    return fit(0) ? where : undefined;
  }
}

/** Looks at the cluster as if nothing that moves were there and every node took pods. */
export function withoutMoving(
  cluster: PlanQuestion['cluster'],
  pods: readonly PlanPod[],
  nodes: PlanQuestion['nodes'],
  look: () => void,
): void {
  const standing = pods.flatMap(({ facts }) => cluster.placed(facts.uid) ?? []);
  for (const { pod } of standing) cluster.remove(pod.uid);
  const closed = nodes.filter(({ name }) => cluster.node(name)?.closed === true);
  for (const { name } of closed) cluster.setClosed(name, false);
  look();
  for (const { name } of closed) cluster.setClosed(name, true);
  for (const { node, pod } of standing) cluster.place(pod, node.name);
}

function byTurn(parcels: readonly Parcel[]): Parcel[][] {
  const turns = new Map<number, Parcel[]>();
  for (const parcel of parcels) turns.set(parcel.turn, [...(turns.get(parcel.turn) ?? []), parcel]);
  return [...turns].sort((a, b) => a[0] - b[0]).map(([, group]) => inSize(group));
}

const inSize = (parcels: readonly Parcel[]): Parcel[] =>
  [...parcels].sort((a, b) => total(b.pod) - total(a.pod) || bits(a.open) - bits(b.open));

class Packer {
  readonly #question: PlanQuestion;
  readonly #nodes: readonly (NodeFacts | undefined)[];
  #tries = 0;
  looks = 0;

  constructor(question: PlanQuestion, nodes: readonly (NodeFacts | undefined)[]) {
    this.#question = question;
    this.#nodes = nodes;
  }

  place(turns: readonly Parcel[][]): ReadonlyMap<string, string> | undefined {
    const { cluster } = this.#question;
    const [turn, ...rest] = turns;
    if (turn === undefined) return new Map();
    const standing = turn.flatMap(({ pod }) => cluster.placed(pod.facts.uid) ?? []);
    for (const { pod } of standing) cluster.remove(pod.uid);
    const answer = this.#fit(turn, 0, rest);
    for (const { node, pod } of standing) cluster.place(pod, node.name);
    return answer;
  }

  #fit(turn: readonly Parcel[], at: number, rest: readonly Parcel[][]): ReadonlyMap<string, string> | undefined {
    const { cluster } = this.#question;
    const parcel = turn[at];
    if (parcel === undefined) return this.place(rest);
    const { replacement } = parcel.pod;
    if (replacement === undefined) return this.#fit(turn, at + 1, rest);
    const question = ask(replacement, cluster, parcel.move.unit.id);
    for (const [index, node] of this.#nodes.entries()) {
      if (node === undefined || (parcel.open & (1 << index)) === 0) continue;
      this.looks += 1;
      if (checkNode(question, node) !== undefined || !this.#sharesDomain(parcel, node)) continue;
      if ((this.#tries += 1) > MAX_TRIES) return undefined;
      settle(replacement, node, cluster);
      const answer = this.#fit(turn, at + 1, rest);
      cluster.remove(replacement.uid);
      if (answer !== undefined) return new Map([...answer, [replacement.uid, node.name]]);
    }
    return undefined;
  }

  /** Whether the unit's other members, wherever they stand now, share the labels that they must. */
  #sharesDomain({ move, pod }: Parcel, node: NodeFacts): boolean {
    const rules = (move.unit.topology ?? []).filter(({ mode }) => mode === 'Required');
    if (rules.length === 0) return true;
    if (rules.some(({ key }) => node.labels[key] === undefined)) return false;
    const { cluster, pods, units } = this.#question;
    return rules.every(({ among, key }) => {
      const bound = new Set(
        units.flatMap(({ id, topology }) =>
          id === move.unit.id || (among !== undefined && topology?.some((rule) => rule.among === among)) ? [id] : [],
        ),
      );
      return pods.every((other) => {
        if (!bound.has(other.unit) || other === pod) return true;
        const labels = cluster.placed(other.facts.uid)?.node.labels;
        return labels === undefined || labels[key] === node.labels[key];
      });
    });
  }
}

const total = ({ replacement }: PlanPod): number =>
  (replacement?.requests ?? []).reduce((sum, { amount }) => sum + amount, 0);

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
