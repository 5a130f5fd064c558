import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { ResourceNames } from '../cluster/resources.ts';
import type { Constraint } from './constraint.ts';
import type { DeviceQuestion } from './devices.ts';
import type { Rejection } from './rejection.ts';

export interface ResourceQuestion {
  readonly pod: PodFacts;
  /** The unit whose holds are room for this pod. */
  readonly unit: string | undefined;
  readonly devices: DeviceQuestion | undefined;
  readonly cluster: { readonly resources: ResourceNames };
}

/** Room kept for other units. */
function keptFrom({ unit }: ResourceQuestion, node: NodeFacts): { pods: number; slots: number[] } {
  const slots: number[] = [];
  let pods = 0;
  for (const hold of node.holds.values()) {
    if (hold.unit === unit) continue;
    pods += hold.pods;
    for (const { slot, amount } of hold.amounts) slots[slot] = (slots[slot] ?? 0) + amount;
  }
  return { pods, slots };
}

const NOTHING = { pods: 0, slots: [] as number[] };
const TOO_MANY_PODS = 1;

/** Rejections by the set of resources that are short, so that a full cluster does not cost an allocation per node. */
const known = new WeakMap<ResourceNames, Map<string, Rejection>>();

export function checkResources(
  question: ResourceQuestion,
  node: NodeFacts,
  names: ResourceNames,
): Rejection | undefined {
  const { devices, pod } = question;
  const kept = node.holds.size === 0 ? NOTHING : keptFrom(question, node);
  const crowded = node.pods.size + kept.pods + 1 > node.allowedPods;
  let short: number[] | undefined;
  let hopeless = false;
  for (const { slot, amount } of pod.requests) {
    const has = node.allocatable[slot] ?? 0;
    if (amount <= has - (node.requested[slot] ?? 0) - (kept.slots[slot] ?? 0)) continue;
    // Devices stand in for a resource that the node itself has none of.
    if (has <= 0 && devices?.backed.has(slot) === true) continue;
    (short ??= []).push(slot);
    hopeless ||= amount > has;
  }
  if (!crowded && short === undefined) return undefined;
  return describeShortage(crowded, short ?? [], { names, resolvable: !hopeless && node.allowedPods > 0 });
}

function describeShortage(
  crowded: boolean,
  short: readonly number[],
  { names, resolvable }: { names: ResourceNames; resolvable: boolean },
): Rejection {
  let described = known.get(names);
  if (described === undefined) {
    described = new Map();
    known.set(names, described);
  }
  const key = `${crowded ? TOO_MANY_PODS : 0}:${resolvable ? 1 : 0}:${short.join()}`;
  let found = described.get(key);
  if (found === undefined) {
    const reasons = short.map((slot) => `Insufficient ${names.names[slot] ?? ''}`);
    found = { filter: 'NodeResourcesFit', reasons: crowded ? ['Too many pods', ...reasons] : reasons, resolvable };
    described.set(key, found);
  }
  return found;
}

/** Every resource that is short: pod slots, cpu, memory, ephemeral storage, then the rest by name. */
export function shortages(question: ResourceQuestion, node: NodeFacts): Constraint[] {
  const { cluster, devices, pod } = question;
  const kept = keptFrom(question, node);
  const found: (Constraint & { readonly resource: string })[] = [];
  const free = node.allowedPods - node.pods.size - kept.pods;
  const filter = 'NodeResourcesFit';
  if (free < 1) found.push({ filter, resource: 'pods', asked: 1, free, allocatable: node.allowedPods });
  const rest: typeof found = [];
  for (const { slot, amount } of pod.requests) {
    const has = node.allocatable[slot] ?? 0;
    const left = has - (node.requested[slot] ?? 0) - (kept.slots[slot] ?? 0);
    if (amount <= left || (has <= 0 && devices?.backed.has(slot) === true)) continue;
    const resource = cluster.resources.names[slot] ?? '';
    (slot <= 2 ? found : rest).push({ filter, resource, asked: amount, free: left, allocatable: has });
  }
  return [...found, ...rest.sort((a, b) => (a.resource < b.resource ? -1 : 1))];
}
