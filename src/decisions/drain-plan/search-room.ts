import { ask, checkNode, isBlind, slotsOn } from '../placement/index.ts';
import type { PlanQuestion } from './model.ts';
import type { Move } from './moves.ts';
import { Packing, type Parcel, withoutMoving } from './packing.ts';
import type { Spot } from './spots.ts';

/**
 * How often a search may ask whether a node takes a pod. Some seconds of one processor; whoever waits for a plan, in a
 * browser or on a terminal, then gets the one that was found without a search.
 */
const MAX_LOOKS = 4_000_000;

/** Room as the search sees it: pods that have moved may be anywhere that was open to them. */
export class SearchRoom {
  readonly #question: PlanQuestion;
  readonly #spots: readonly Spot[];
  readonly #held: ReadonlySet<string>;
  readonly #packing: Packing;
  /** Pods each node takes when all are alike; counting is then enough. */
  readonly #slots: readonly number[] | undefined;

  constructor(question: PlanQuestion, moves: readonly Move[], spots: readonly Spot[]) {
    this.#question = question;
    this.#spots = spots;
    const movable = new Set(moves.flatMap((move) => move.pods.map(({ id }) => id)));
    this.#held = new Set(question.pods.filter(({ id }) => !movable.has(id)).map(({ node }) => node));
    this.#packing = new Packing(question, moves);
    this.#slots = countSlots(question, moves);
  }

  /** A bit for each node that takes pods: those that stay, and those that are empty and come back. */
  openNodes(left: number): number {
    const { nodes, nodesReturn } = this.#question;
    const occupied = new Set(this.#spots.filter((_, index) => left & (1 << index)).map(({ node }) => node));
    const isOpen = (name: string): boolean => nodesReturn && !occupied.has(name) && !this.#held.has(name);
    return nodes.reduce((mask, { drain, name }, at) => (!drain || isOpen(name) ? mask | (1 << at) : mask), 0);
  }

  /** The search has cost as much as it may: no answer of it is to be believed any more. */
  get isSpent(): boolean {
    return this.#packing.looks > MAX_LOOKS;
  }

  /** Whether the parcels fit when no node beyond these is open to any of them. */
  fits(parcels: readonly Parcel[], open: number): boolean {
    if (this.isSpent) return false;
    if (this.#slots === undefined) return this.packs(parcels);
    return this.most(parcels.length, open) >= 0;
  }

  /** No more pods than this fit beside those that have moved. */
  most(moved: number, open: number): number {
    if (this.#slots === undefined) return Number.POSITIVE_INFINITY;
    return this.#slots.reduce((total, slots, index) => total + (open & (1 << index) ? slots : 0), -moved);
  }

  packs(parcels: readonly Parcel[]): boolean {
    return this.pack(parcels) !== undefined;
  }

  pack(parcels: readonly Parcel[]): ReadonlyMap<string, string> | undefined {
    return this.#packing.pack(parcels);
  }

  /** Two states with one key have the same future. */
  keyOf({ left, parcels }: { left: number; parcels: readonly Parcel[] }): string {
    if (this.#slots !== undefined) return String(left);
    const looks = parcels.some(({ move, pod }) => pod.facts.looksAtPods || move.unit.topology !== undefined);
    const shapes = parcels.map(({ move, open, pod, turn }) => {
      const shape = `${pod.replacement?.shape ?? ''}@${open}`;
      return looks ? `${turn}:${move.unit.id}:${shape}` : shape;
    });
    return `${left}|${(looks ? shapes : shapes.sort()).join(';')}`;
  }
}

/** How many pods each node takes, were all that moves gone; undefined unless all of them are alike. */
function countSlots({ cluster, nodes }: PlanQuestion, moves: readonly Move[]): number[] | undefined {
  const pods = moves.flatMap((move) => move.pods);
  const sample = pods[0]?.replacement;
  if (sample === undefined || !isBlind(sample, cluster) || moves.some(({ unit }) => unit.topology)) return undefined;
  if (pods.some(({ replacement }) => replacement?.shape !== sample.shape || replacement.hostPorts.length > 0)) {
    return undefined;
  }
  let slots: number[] = [];
  withoutMoving(cluster, pods, nodes, () => {
    const question = ask(sample, cluster);
    slots = nodes.map(({ name }) => {
      const node = cluster.node(name);
      return node !== undefined && checkNode(question, node) === undefined ? Math.max(0, slotsOn(sample, node)) : 0;
    });
  });
  return slots;
}
