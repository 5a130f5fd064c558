import { seededRandom } from '../../../machinery/values/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm } from '../cluster/pod-terms.ts';
import { checkNode } from '../filters/check-node.ts';
import { askDevices } from '../filters/devices.ts';
import type { Kind } from './kinds.ts';
import type { Capacity } from './proofs.ts';
import { type Attempt, type Effort, isBlind, slackOf } from './search.ts';

/**
 * Whether a scheduler that takes one pod after the other, and never goes back, places as many whatever order and nodes
 * it takes. True where:
 *
 *  1. no kind has rules about other pods, and each finds more nodes than there are pods: whatever the others take,
 *     one is left
 *  2. all pods are of one kind, and the only rules in play are host ports, one key of anti-affinity to each other and
 *     one spread: then each node or domain has a cap of its own. With both, each value of the first key must lie
 *     inside one value of the second
 */
export function isOrderFree(capacities: readonly Capacity[], cluster: Cluster): boolean {
  const total = capacities.reduce((sum, { kind }) => sum + kind.pods.length, 0);
  const plenty = capacities.every(
    ({ kind, nodes }) => nodes.length >= total && isBlind(kind.sample, cluster) && kind.sample.hostPorts.length === 0,
  );
  if (plenty) return true;
  const [only] = capacities;
  if (only === undefined || capacities.length > 1) return only === undefined;
  const { sample } = only.kind;
  if (askDevices(sample, cluster) !== undefined && cluster.devices.shared) return false;
  if (sample.claims.length > 0 && only.kind.pods.length > 1) return false;
  const { affinity } = sample.podTerms;
  const labels = cluster.namespaceLabels.get(sample.namespace);
  const own = sample.podTerms.antiAffinity.filter((term) => matchesPodTerm(term, sample, labels));
  const keys = new Set(own.map(({ topologyKey }) => topologyKey));
  const [spread, ...more] = sample.spread.hard;
  if (affinity.length > 0 || keys.size > 1 || more.length > 0) return false;
  const [key] = keys;
  return key === undefined || spread === undefined || isInside(key, spread.topologyKey, cluster);
}

/** Every value of the first label is found with one value of the second only. */
function isInside(key: string, outer: string, { nodes }: Cluster): boolean {
  const found = new Map<string, string | undefined>();
  for (const { labels } of nodes) {
    const value = labels[key];
    if (value === undefined) continue;
    if (found.has(value) && found.get(value) !== labels[outer]) return false;
    found.set(value, labels[outer]);
  }
  return true;
}

const MAX_ORDERS = 24;
const RANDOM_CHOICES = 8;

/** Picks a node for a pod among those that take it. */
type Choice = (suitable: readonly NodeFacts[], pod: PodFacts, rest: readonly PodFacts[]) => NodeFacts;

const best = (suitable: readonly NodeFacts[], score: (node: NodeFacts) => number): NodeFacts => {
  let found = suitable[0] as NodeFacts;
  let most = score(found);
  for (const node of suitable.slice(1)) {
    const one = score(node);
    if (one > most || (one === most && node.name < found.name)) [found, most] = [node, one];
  }
  return found;
};

/**
 * Plays a scheduler that takes one pod after the other, in every order of the kinds and with several ways to choose.
 * False as soon as one of them leaves too few with a place.
 */
export function holdsInSamples(
  kinds: readonly Kind[],
  nodes: readonly NodeFacts[],
  { attempt, effort, need }: { attempt: Attempt; effort: Effort; need: number },
): boolean {
  const random = seededRandom(1);
  const choices: Choice[] = [
    (suitable, pod) => best(suitable, (node) => slackOf(pod, node)),
    (suitable, pod) => best(suitable, (node) => -slackOf(pod, node)),
    (suitable, pod, rest) => best(suitable, (node) => -placesLeft(pod, node, rest, { attempt, nodes })),
    ...Array.from(
      { length: RANDOM_CHOICES },
      (): Choice => (suitable) => suitable[Math.floor(random() * suitable.length)] as NodeFacts,
    ),
  ];
  const orders = ordersOf(kinds).map((order) => order.flatMap((one) => one.pods));
  // A pod that looks at others may find a place before them and after them, and none while they are being placed.
  const mixed = kinds.every(({ sample }) => isBlind(sample, attempt.cluster)) ? [] : mixedOrders(kinds);
  for (const pods of [...orders, ...mixed]) {
    for (const choose of choices) {
      const mark = attempt.where.length;
      const placed = play(pods, nodes, { attempt, effort, choose });
      attempt.rollback(mark);
      if (placed < need || effort.spent) return false;
    }
  }
  return true;
}

function play(
  pods: readonly PodFacts[],
  nodes: readonly NodeFacts[],
  { attempt, choose, effort }: { attempt: Attempt; choose: Choice; effort: Effort },
): number {
  let placed = 0;
  for (const [at, pod] of pods.entries()) {
    const question = attempt.ask(pod);
    effort.left -= nodes.length;
    if (effort.spent) break;
    const suitable = nodes.filter((node) => checkNode(question, node) === undefined);
    if (suitable.length === 0) continue;
    attempt.place(pod, choose(suitable, pod, pods.slice(at + 1)));
    placed += 1;
  }
  return placed;
}

/** Places for the next pods, counted one by one, should this pod take that node. */
function placesLeft(
  pod: PodFacts,
  node: NodeFacts,
  rest: readonly PodFacts[],
  { attempt, nodes }: { attempt: Attempt; nodes: readonly NodeFacts[] },
): number {
  const [next] = rest;
  if (next === undefined) return 0;
  const last = rest[rest.length - 1] as PodFacts;
  const mark = attempt.where.length;
  attempt.place(pod, node);
  let left = 0;
  for (const other of next.shape === last.shape ? [next] : [next, last]) {
    const question = attempt.ask(other);
    for (const one of nodes) if (checkNode(question, one) === undefined) left += 1;
  }
  attempt.rollback(mark);
  return left;
}

/** The pods of each kind in the midst of all others, at places spread over them. */
function mixedOrders(kinds: readonly Kind[]): PodFacts[][] {
  return kinds.flatMap(({ pods }) => {
    const others = kinds.flatMap((other) => (other.pods === pods ? [] : other.pods));
    const places = Math.min(others.length - 1, Math.ceil(MAX_ORDERS / kinds.length));
    return Array.from({ length: Math.max(places, 0) }, (_, at) => {
      const cut = Math.ceil(((at + 1) * others.length) / (places + 1));
      return [...others.slice(0, cut), ...pods, ...others.slice(cut)];
    });
  });
}

function ordersOf(kinds: readonly Kind[]): Kind[][] {
  const byName = [...kinds].sort((a, b) => (a.id < b.id ? -1 : 1));
  const orders: Kind[][] = [];
  const extend = (order: Kind[], left: readonly Kind[]): void => {
    if (orders.length >= MAX_ORDERS) return;
    if (left.length === 0) orders.push(order);
    for (const kind of left) {
      extend(
        [...order, kind],
        left.filter((other) => other !== kind),
      );
    }
  };
  extend([], byName);
  return orders;
}
