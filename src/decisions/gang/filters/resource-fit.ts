import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { ResourceNames } from '../cluster/resources.ts';
import type { Rejection } from './rejection.ts';

/** Room promised to pods at least as important, which this pod may not take. */
function promised(node: NodeFacts, pod: PodFacts): { pods: number; slots: number[] } {
  const slots: number[] = [];
  let pods = 0;
  for (const other of node.nominated.values()) {
    if (other.uid === pod.uid || other.priority < pod.priority || node.pods.has(other.uid)) continue;
    pods += 1;
    for (const { slot, amount } of other.requests) slots[slot] = (slots[slot] ?? 0) + amount;
  }
  return { pods, slots };
}

const NOTHING = { pods: 0, slots: [] as number[] };
const TOO_MANY_PODS = 1;

/** Rejections by the set of resources that are short, so that a full cluster does not cost an allocation per node. */
const known = new WeakMap<ResourceNames, Map<string, Rejection>>();

export function checkResources(pod: PodFacts, node: NodeFacts, names: ResourceNames): Rejection | undefined {
  const taken = node.nominated.size === 0 ? NOTHING : promised(node, pod);
  const crowded = node.pods.size + taken.pods + 1 > node.allowedPods;
  let short: number[] | undefined;
  for (const { slot, amount } of pod.requests) {
    const free = (node.allocatable[slot] ?? 0) - (node.requested[slot] ?? 0) - (taken.slots[slot] ?? 0);
    if (amount > free) (short ??= []).push(slot);
  }
  if (!crowded && short === undefined) return undefined;
  return describeShortage(crowded, short ?? [], names);
}

function describeShortage(crowded: boolean, short: readonly number[], names: ResourceNames): Rejection {
  let described = known.get(names);
  if (described === undefined) {
    described = new Map();
    known.set(names, described);
  }
  const key = `${crowded ? TOO_MANY_PODS : 0}:${short.join()}`;
  let found = described.get(key);
  if (found === undefined) {
    const reasons = short.map((slot) => `Insufficient ${names.names[slot] ?? ''}`);
    found = {
      filter: 'NodeResourcesFit',
      reasons: crowded ? ['Too many pods', ...reasons] : reasons,
      resolvable: true,
    };
    described.set(key, found);
  }
  return found;
}
