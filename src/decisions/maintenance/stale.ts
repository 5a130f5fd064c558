import type { MaintenanceNodeStatus } from '../../api/quorate/maintenance.ts';
import { podBlocker } from './blockers.ts';
import type { MaintenanceFacts, NewBlocker, PodFact } from './facts.ts';
import { claimedByOthers, isLeft } from './node-states.ts';
import { stepsToCome } from './progress.ts';

/** So many plans are made because of pods that come to one node. */
const REPLANS_PER_NODE = 3;

export interface Staleness {
  readonly stale: boolean;
  /** Claimed nodes that pods came to. */
  readonly cameTo: readonly string[];
  /** Nodes that pods keep coming to. */
  readonly blockers: readonly NewBlocker[];
}

/**
 * Whether what is still to come of a plan fits what is there: a pod of it is gone or may stay, a pod that has to move is in
 * no step of it, or it was too long to be written down.
 */
export function findStaleness(facts: MaintenanceFacts, nodes: readonly MaintenanceNodeStatus[]): Staleness {
  const status = facts.maintenance.status ?? {};
  const states = new Map(nodes.map((node) => [node.name, node]));
  const { steps } = stepsToCome(status);
  const coming = steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods));
  const known = new Set(coming.map(({ uid }) => uid));
  const blocked = new Set(status.plan?.blocked?.flatMap(({ pods = [] }) => pods));
  // Where it takes what it can get, a node that another Maintenance holds is left to that one.
  const bestEffort = facts.maintenance.spec?.mode === 'BestEffort';
  const others = bestEffort ? claimedByOthers(facts, nodes) : new Map<string, string>();
  const lost = coming.some(({ node, uid }) => {
    const state = states.get(node);
    if (others.has(node)) return true;
    return facts.present.get(uid) !== 'There' || state === undefined || isLeft(state);
  });
  const unplanned = facts.pods.filter(
    ({ going, name, namespace, uid }) => !going && !known.has(uid) && !blocked.has(`${namespace}/${name}`),
  );
  const again: string[] = [];
  const tired = new Map<string, PodFact[]>();
  for (const pod of unplanned) {
    const node = states.get(pod.node);
    const isLast = steps.length > 0 && pod.node === status.plan?.leftForLast;
    if (node === undefined || isLeft(node) || others.has(pod.node) || isLast) continue;
    const came = node.state !== 'Waiting';
    if (came && (node.replans ?? 0) >= REPLANS_PER_NODE) tired.set(pod.node, [...(tired.get(pod.node) ?? []), pod]);
    else again.push(pod.node);
  }
  const truncated = steps.length === 0 && (status.plan?.truncatedSteps ?? 0) > 0;
  return {
    stale: lost || again.length > 0 || truncated,
    cameTo: [...new Set(again)].filter((name) => states.get(name)?.state !== 'Waiting'),
    blockers: [...tired].map(([node, pods]) => keepComing(node, pods)),
  };
}

function keepComing(node: string, pods: readonly PodFact[]): NewBlocker {
  const by = pods[0]?.controller;
  const who = by === undefined ? 'nobody in particular' : `${by.kind} ${by.name}`;
  return podBlocker(
    {
      kind: 'Node',
      name: node,
      reason: 'PodsKeepComing',
      message: `pods keep coming to it, made by ${who}`,
      remedies: [`keep ${who} from placing pods on ${node}`],
    },
    pods.map(({ name, namespace }) => `${namespace}/${name}`),
  );
}
