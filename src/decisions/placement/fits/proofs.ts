import type { NodeFacts } from '../cluster/node-facts.ts';
import type { NodePool } from '../cluster/node-pools.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { checkNode, type Question } from '../filters/check-node.ts';
import type { Kind } from './kinds.ts';
import type { NoProof } from './model.ts';
import { type Attempt, isBlind, suitableNodes } from './search.ts';

/** The question without the rules that other members could still meet: spreading evenly, and being near somebody. */
export function relaxed(question: Question): Question {
  const { affinity } = question;
  return { ...question, spread: [], affinity: affinity && { ...affinity, ignoresNear: true } };
}

/** How many pods like this one a node takes, by room alone. */
export function slotsOn(pod: PodFacts, node: NodeFacts): number {
  let slots = node.allowedPods - node.pods.size;
  for (const { amount, slot } of pod.requests) {
    const has = node.allocatable[slot] ?? 0;
    // A resource that the node has none of and still passes is made of devices, which the filters count.
    if (has <= 0) continue;
    slots = Math.min(slots, Math.floor((has - (node.requested[slot] ?? 0)) / amount));
  }
  return pod.hostPorts.length > 0 ? Math.min(slots, 1) : slots;
}

export interface Capacity {
  readonly kind: Kind;
  /** Nodes that take one such pod while none of its fellows is there. */
  readonly nodes: readonly NodeFacts[];
  readonly slots: number;
}

/** What each kind finds by itself. */
export function capacityOf(kinds: readonly Kind[], pool: NodePool, attempt: Attempt): Capacity[] {
  return kinds.map((kind) => {
    const { pods, sample } = kind;
    let suitable: NodeFacts[];
    if (isBlind(sample, attempt.cluster)) suitable = suitableNodes(attempt, sample, pool);
    else {
      const question = relaxed(attempt.ask(sample));
      suitable = pool.nodes.filter((node) => checkNode(question, node) === undefined);
    }
    let slots = 0;
    for (const node of suitable) {
      slots += Math.max(1, slotsOn(sample, node));
      if (slots >= pods.length) break;
    }
    return { kind, nodes: suitable, slots };
  });
}

/** A proof that so many of the pods cannot all find a place on these nodes; none of it looks at rules between pods. */
export function findNoProof(capacities: readonly Capacity[], need: number): NoProof | undefined {
  const total = capacities.reduce((sum, { kind }) => sum + kind.pods.length, 0);
  const all = need >= total;
  if (all && capacities.some(({ nodes }) => nodes.length === 0)) return 'NoNode';
  const most = capacities.reduce((sum, { kind, slots }) => sum + Math.min(kind.pods.length, slots), 0);
  if (most < need) return 'Slots';
  return all && exceedsSum(capacities) ? 'Sum' : undefined;
}

function exceedsSum(capacities: readonly Capacity[]): boolean {
  const usable = new Set(capacities.flatMap(({ nodes }) => nodes));
  const asked: number[] = [];
  for (const { kind } of capacities) {
    for (const { amount, slot } of kind.sample.requests) asked[slot] = (asked[slot] ?? 0) + amount * kind.pods.length;
  }
  for (const [slot, amount] of asked.entries()) {
    if (amount === undefined) continue;
    let free = 0;
    for (const node of usable) {
      const has = node.allocatable[slot] ?? 0;
      // Devices may stand in for what the node itself has none of.
      if (has <= 0 && capacities.some(({ kind }) => kind.sample.requests.some((one) => one.slot === slot))) {
        free = Number.POSITIVE_INFINITY;
        break;
      }
      free += Math.max(0, has - (node.requested[slot] ?? 0));
      if (free >= amount) break;
    }
    if (free < amount) return true;
  }
  return false;
}
