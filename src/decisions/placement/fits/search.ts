import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { NodePool } from '../cluster/node-pools.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm } from '../cluster/pod-terms.ts';
import { ask, checkNode, type Question } from '../filters/check-node.ts';
import { askDevices } from '../filters/devices.ts';
import { settle } from '../filters/settle.ts';
import type { Kind } from './kinds.ts';
import type { Assignment } from './model.ts';

/** Counts how often a pod is held against a node, so that a question never costs more than its limit. */
export class Effort {
  left: number;

  constructor(limit: number) {
    this.left = limit;
  }

  get spent(): boolean {
    return this.left < 0;
  }
}

/** Pods placed while a question is looked at; taken back before it is answered. */
export class Attempt {
  readonly cluster: Cluster;
  readonly unit: string;
  readonly where: Assignment[] = [];

  readonly #zones: ReadonlyMap<string, string> | undefined;

  constructor(cluster: Cluster, unit: string, zones?: ReadonlyMap<string, string>) {
    this.cluster = cluster;
    this.unit = unit;
    this.#zones = zones;
  }

  /** The zone that a pod comes from. */
  zoneOf({ uid }: PodFacts): string | undefined {
    return this.#zones?.get(uid);
  }

  ask(pod: PodFacts): Question {
    return ask(pod, this.cluster, this.unit);
  }

  place(pod: PodFacts, node: NodeFacts): void {
    settle(pod, node, this.cluster);
    this.where.push({ pod, node: node.name });
  }

  rollback(keep = 0): void {
    for (const { pod } of this.where.splice(keep).reverse()) this.cluster.remove(pod.uid);
  }
}

/** Whether where this pod goes has nothing to do with where others are, but for the room they take. */
export function isBlind(pod: PodFacts, cluster: Cluster): boolean {
  if (pod.looksAtPods || pod.claims.length > 0 || pod.disks.length > 0) return false;
  if (pod.deviceClaims > 0 || askDevices(pod, cluster) !== undefined) return false;
  const labels = cluster.namespaceLabels.get(pod.namespace);
  for (const { term } of cluster.antiTerms()) if (matchesPodTerm(term, pod, labels)) return false;
  return true;
}

/** How much of its tightest resource a node would have left, as a share of what it has: the tighter the smaller. */
export function slackOf({ requests }: PodFacts, node: NodeFacts): number {
  let slack = Number.POSITIVE_INFINITY;
  for (const { amount, slot } of requests) {
    const has = node.allocatable[slot] ?? 0;
    if (has > 0) slack = Math.min(slack, (has - (node.requested[slot] ?? 0) - amount) / has);
  }
  return slack === Number.POSITIVE_INFINITY ? node.allowedPods - node.pods.size : slack;
}

/**
 * Places one pod after the other, each on its tightest node; answers how many found one. Pods that look at no others
 * fill the tightest node and go on to the next, so each node is looked at once.
 */
export function placeTightest(
  kinds: readonly Kind[],
  pool: NodePool,
  { attempt, effort }: { attempt: Attempt; effort: Effort },
): number {
  const before = attempt.where.length;
  for (const { pods, sample } of kinds) {
    if (isBlind(sample, attempt.cluster)) fillTightest(pods, pool, { attempt, effort });
    else for (const pod of pods) if (!placeOne(pod, pool.nodes, { attempt, effort })) break;
    if (effort.spent) break;
  }
  return attempt.where.length - before;
}

function fillTightest(
  pods: readonly PodFacts[],
  pool: NodePool,
  { attempt, effort }: { attempt: Attempt; effort: Effort },
): void {
  const [sample] = pods;
  if (sample === undefined) return;
  const suitable = suitableNodes(attempt, sample, pool);
  effort.left -= pool.nodes.length === 0 ? 0 : 1 + suitable.length;
  const slack = new Map(suitable.map((node) => [node, slackOf(sample, node)]));
  suitable.sort((a, b) => (slack.get(a) ?? 0) - (slack.get(b) ?? 0) || (a.name < b.name ? -1 : 1));
  const fill = (members: readonly PodFacts[], among: readonly NodeFacts[]): readonly PodFacts[] => {
    let at = 0;
    for (const node of among) {
      while (at < members.length) {
        const pod = members[at] as PodFacts;
        effort.left -= 1;
        if (checkNode(attempt.ask(pod), node) !== undefined) break;
        attempt.place(pod, node);
        at += 1;
      }
      if (at >= members.length) break;
    }
    return members.slice(at);
  };
  // Each first where it comes from, so that no zone fills up with pods that could be anywhere.
  const left: PodFacts[] = [];
  for (const zone of new Set(pods.map((pod) => attempt.zoneOf(pod)))) {
    const members = pods.filter((pod) => attempt.zoneOf(pod) === zone);
    left.push(
      ...(zone === undefined
        ? members
        : fill(
            members,
            suitable.filter((node) => node.zone === zone),
          )),
    );
  }
  fill(left, suitable);
}

/** Below this many nodes it is quicker to ask each than to keep what they answered. */
const FEW_NODES = 32;

/** Nodes that take a pod which looks at no others. */
export function suitableNodes(attempt: Attempt, pod: PodFacts, pool: NodePool): NodeFacts[] {
  const { cluster } = attempt;
  const question = attempt.ask(pod);
  const fits = (node: NodeFacts): boolean => checkNode(question, node) === undefined;
  if (pool.nodes.length <= FEW_NODES) return pool.nodes.filter(fits);
  return cluster.answers.fitting(pod.shape, pool, { all: cluster.nodes, fits });
}

function placeOne(
  pod: PodFacts,
  nodes: readonly NodeFacts[],
  { attempt, effort }: { attempt: Attempt; effort: Effort },
): boolean {
  const question = attempt.ask(pod);
  let best: { node: NodeFacts; slack: number } | undefined;
  effort.left -= nodes.length;
  for (const node of nodes) {
    if (checkNode(question, node) !== undefined) continue;
    const slack = slackOf(pod, node);
    if (best === undefined || slack < best.slack || (slack === best.slack && node.name < best.node.name)) {
      best = { node, slack };
    }
  }
  if (best !== undefined) attempt.place(pod, best.node);
  return best !== undefined;
}

/**
 * Looks for any way to place `wanted` of the pods. Where rules look at pods, the order in which pods come counts too;
 * what lies ahead depends only on how many of each kind stand where, so each such state is looked at once. Answers
 * the most that were placed; the attempt holds the places of a success and is as it was otherwise.
 */
export function placeAnyhow(
  kinds: readonly Kind[],
  nodes: readonly NodeFacts[],
  { attempt, effort, wanted }: { attempt: Attempt; effort: Effort; wanted: number },
): number {
  const ordered = kinds.some(({ sample }) => sample.podTerms.affinity.length + sample.spread.hard.length > 0);
  const placed = kinds.map(() => 0);
  const seen = new Set<string>();
  const start = attempt.where.length;
  const stands = new Map<string, number>();
  let most = 0;

  const total = kinds.reduce((sum, { pods }) => sum + pods.length, 0);
  const step = (kind: number, from: number, skipped: number): boolean => {
    const { pods } = kinds[kind] as Kind;
    const pod = pods[placed[kind] ?? 0];
    if (pod === undefined) return false;
    const question = attempt.ask(pod);
    for (let at = ordered ? 0 : from; at < nodes.length; at += 1) {
      effort.left -= 1;
      if (effort.spent) return false;
      const node = nodes[at] as NodeFacts;
      if (checkNode(question, node) !== undefined) continue;
      const mark = attempt.where.length;
      const key = `${kind}@${at}`;
      attempt.place(pod, node);
      placed[kind] = (placed[kind] ?? 0) + 1;
      stands.set(key, (stands.get(key) ?? 0) + 1);
      if (descend(kind, at, skipped)) return true;
      attempt.rollback(mark);
      placed[kind] = (placed[kind] ?? 0) - 1;
      stands.set(key, (stands.get(key) ?? 0) - 1);
    }
    return false;
  };
  const descend = (kind: number, from: number, skipped: number): boolean => {
    const done = attempt.where.length - start;
    most = Math.max(most, done);
    if (done >= wanted) return true;
    if (effort.spent || total - skipped < wanted) return false;
    if (ordered) {
      const id = [...stands]
        .filter(([, count]) => count > 0)
        .map(([key, count]) => `${key}:${count}`)
        .sort()
        .join();
      if (seen.has(id)) return false;
      seen.add(id);
      for (let next = 0; next < kinds.length; next += 1) if (step(next, 0, skipped)) return true;
      return false;
    }
    const { pods } = kinds[kind] ?? { pods: [] };
    const left = pods.length - (placed[kind] ?? 0);
    if (left > 0 && step(kind, from, skipped)) return true;
    if (kind + 1 >= kinds.length) return false;
    return descend(kind + 1, 0, skipped + left);
  };
  descend(0, 0, 0);
  return most;
}
