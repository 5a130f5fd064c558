import type { Amounts, PlanPod, PlanQuestion } from './model.ts';
import type { Move } from './moves.ts';
import { canPack, type Parcel } from './packing.ts';
import type { Spot } from './spots.ts';

/** Room as the search sees it: pods that have moved may be anywhere that was open to them. */
export class SearchRoom {
  readonly #question: PlanQuestion;
  readonly #spots: readonly Spot[];
  readonly #held: ReadonlySet<string>;
  readonly #names: readonly string[];
  readonly #capacity: readonly Amounts[];
  /** Pods each node takes when all are alike; counting is then enough. */
  readonly #slots: readonly number[] | undefined;

  constructor(question: PlanQuestion, moves: readonly Move[], spots: readonly Spot[]) {
    this.#question = question;
    this.#spots = spots;
    const pods = moves.flatMap((move) => move.pods);
    const movable = new Set(pods.map(({ id }) => id));
    this.#held = new Set(question.pods.filter(({ id }) => !movable.has(id)).map(({ node }) => node));
    this.#names = question.nodes.map(({ name }) => name);
    this.#capacity = question.nodes.map((node) => capacityOf(node, question.pods));
    const shape = pods[0]?.requests ?? [];
    const alike = pods.every(({ eligible, requests }) => eligible === undefined && requests.join() === shape.join());
    this.#slots = alike ? this.#capacity.map((amounts) => slotsOf(amounts, shape)) : undefined;
  }

  /** A bit for each node that takes pods: those that stay, and those that are empty and come back. */
  openNodes(left: number): number {
    const { nodes, nodesReturn } = this.#question;
    const occupied = new Set(this.#spots.filter((_, index) => left & (1 << index)).map(({ node }) => node));
    const isOpen = (name: string): boolean => nodesReturn && !occupied.has(name) && !this.#held.has(name);
    return nodes.reduce((mask, { drain, name }, at) => (!drain || isOpen(name) ? mask | (1 << at) : mask), 0);
  }

  /** Whether the parcels fit when no node beyond these is open to any of them. */
  fits(parcels: readonly Parcel[], open: number): boolean {
    if (this.#slots === undefined) return this.packs(parcels);
    return this.most(parcels.length, open) >= 0;
  }

  /** No more pods than this fit beside those that have moved. */
  most(moved: number, open: number): number {
    if (this.#slots === undefined) return Number.POSITIVE_INFINITY;
    return this.#slots.reduce((total, slots, index) => total + (open & (1 << index) ? slots : 0), -moved);
  }

  packs(parcels: readonly Parcel[]): boolean {
    return canPack(parcels, this.#names, this.#capacity);
  }

  /** Two states with one key have the same future. */
  keyOf({ left, parcels }: { left: number; parcels: readonly Parcel[] }): string {
    if (this.#slots !== undefined) return String(left);
    const shapes = parcels.map(({ open, pod }) => `${shapeOf(pod)}@${open}`).sort();
    return `${left}|${shapes.join(';')}`;
  }
}

const shapeOf = ({ eligible, requests }: PlanPod): string =>
  `${requests.join()}/${eligible === undefined ? '*' : [...eligible].sort().join()}`;

/** All the room of a node for what moves: what is free on it, and what the pods to move hold if it is to be drained. */
function capacityOf(node: PlanQuestion['nodes'][number], pods: readonly PlanPod[]): Amounts {
  if (!node.drain) return node.free;
  const held = pods.filter((pod) => pod.node === node.name);
  return node.free.map((amount, at) => held.reduce((total, { requests }) => total + (requests[at] ?? 0), amount));
}

function slotsOf(amounts: Amounts, shape: Amounts): number {
  const slots = shape.map((amount, at) =>
    amount === 0 ? Number.POSITIVE_INFINITY : Math.floor((amounts[at] ?? 0) / amount),
  );
  return Math.max(0, Math.min(...slots));
}
