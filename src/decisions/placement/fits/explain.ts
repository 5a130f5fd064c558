import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { refusalsOn } from '../filters/check-node.ts';
import type { Constraint } from '../filters/constraint.ts';
import type { Binding } from './model.ts';
import type { Attempt } from './search.ts';

export interface PodMiss {
  readonly node: string | undefined;
  readonly missing: readonly Constraint[];
  readonly binding: Binding;
}

/** Nothing a node says: there is none. */
const NO_NODE: Constraint = { filter: 'NodeGone' };

/**
 * Why a pod finds no place on these nodes: the node with the fewest refusing filters, of those the one that is least
 * short; the first refusal there is what binds.
 */
export function explainPod(pod: PodFacts, nodes: readonly NodeFacts[], attempt: Attempt): PodMiss {
  const question = attempt.ask(pod);
  let near: { node: NodeFacts; missing: Constraint[]; filters: number; short: number } | undefined;
  const alone = new Map<string, number>();
  for (const node of nodes) {
    const missing = refusalsOn(question, node).map(({ constraint }) => constraint);
    const filters = new Set(missing.map(({ filter }) => filter)).size;
    const [only] = missing;
    if (filters === 1 && only !== undefined) alone.set(only.filter, (alone.get(only.filter) ?? 0) + 1);
    const short = Math.max(0, ...missing.map(shortageOf));
    const better =
      near === undefined ||
      filters < near.filters ||
      (filters === near.filters && (short < near.short || (short === near.short && node.name < near.node.name)));
    if (better) near = { node, missing, filters, short };
  }
  const constraint = near?.missing[0] ?? NO_NODE;
  return {
    node: near?.node.name,
    missing: near?.missing ?? [NO_NODE],
    binding: {
      constraint,
      scope: 'Node',
      pod: `${pod.namespace}/${pod.name}`,
      nodes: alone.get(constraint.filter) ?? 0,
      of: nodes.length,
      ...(constraint.filter === 'NodeAffinity' && { wants: wantsOf(pod) }),
      ...(constraint.filter === 'InterPodAffinity' && { wants: rulesOf(pod) }),
    },
  };
}

const shortageOf = (constraint: Constraint): number =>
  constraint.filter === 'NodeResourcesFit'
    ? (constraint.asked - constraint.free) / (constraint.allocatable === 0 ? 1 : constraint.allocatable)
    : 0;

function wantsOf({ pod }: PodFacts): string | undefined {
  const pairs = Object.entries(pod.spec?.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? undefined : pairs.sort().join(',');
}

/** The labels that the pod's first rule about other pods looks for. */
function rulesOf({ podTerms }: PodFacts): string | undefined {
  const term = podTerms.antiAffinity[0] ?? podTerms.affinity[0];
  const pairs = (term?.selector.requirements ?? []).map(({ key, values }) => `${key}=${values.join('|')}`);
  return pairs.length === 0 ? undefined : pairs.join(',');
}

/** What the pods ask for of the resource that binds, and what is free of it on nodes that pass all other filters. */
export function totalOf(
  constraint: Constraint,
  pods: readonly PodFacts[],
  { attempt, nodes }: { attempt: Attempt; nodes: readonly NodeFacts[] },
): Binding['total'] {
  if (constraint.filter !== 'NodeResourcesFit') return undefined;
  const { resource } = constraint;
  const slot = resource === 'pods' ? undefined : attempt.cluster.resources.slot(resource);
  const amountOf = ({ requests }: PodFacts): number =>
    slot === undefined ? 1 : (requests.find((one) => one.slot === slot)?.amount ?? 0);
  const asking = pods.filter((pod) => amountOf(pod) > 0);
  const [first] = asking;
  if (first === undefined) return undefined;
  const question = attempt.ask(first);
  let free = 0;
  let most = 0;
  let count = 0;
  let exists = false;
  for (const node of nodes) {
    const others = refusalsOn(question, node).filter(
      ({ constraint: one }) => !(one.filter === 'NodeResourcesFit' && one.resource === resource),
    );
    const has = slot === undefined ? node.allowedPods : (node.allocatable[slot] ?? 0);
    if (has > 0 && others.every(({ constraint: one }) => one.filter !== 'NodeUnschedulable')) exists = true;
    // Short of something else as well, what is free here is still free.
    if (others.some(({ constraint: one }) => one.filter !== 'NodeResourcesFit')) continue;
    const left = Math.max(0, has - (slot === undefined ? node.pods.size : (node.requested[slot] ?? 0)));
    free += left;
    most = Math.max(most, left);
    if (left > 0) count += 1;
  }
  const amounts = new Set(asking.map(amountOf));
  return {
    asked: asking.reduce((sum, pod) => sum + amountOf(pod), 0),
    free,
    nodes: count,
    most,
    pods: asking.length,
    exists,
    ...(amounts.size === 1 && { each: amountOf(first) }),
  };
}
