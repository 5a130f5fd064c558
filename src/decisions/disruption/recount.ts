/**
 * The counts of budgets, worked out from nothing by walking every pod. Slow and plain on purpose: the index is held
 * against it in property tests.
 */
import { matches } from '../../machinery/values/index.ts';
import { computeDesired } from './arithmetic.ts';
import { type BudgetFacts, DISRUPTION_TIMEOUT_MS } from './budget-facts.ts';
import { isClaimedBy } from './claims.ts';
import { resolvePod, toldReplicas } from './group-by.ts';
import { buildTree, distanceOf } from './composite.ts';
import type { CompositeFacts, GroupLookup, GroupSource, PodGroupFacts, WorkloadFacts } from './group-facts.ts';
import { decideMode, type Mode } from './mode.ts';
import { isUp, type CountedPod } from './pod-facts.ts';
import { type BrokenReason, minimumOfLeaf, type Resolution } from './resolve.ts';
import type { BudgetView } from './verdict.ts';

/** One namespace's worth of objects. */
export interface NamespaceObjects {
  readonly pods: readonly CountedPod[];
  readonly workloads: readonly WorkloadFacts[];
  readonly podGroups: readonly PodGroupFacts[];
  readonly composites?: readonly CompositeFacts[];
  readonly sources?: ReadonlyMap<string, GroupSource>;
}

export interface Recount {
  readonly mode: Mode;
  readonly pods: number;
  readonly healthy: number;
  readonly expectedUnits: number;
  view(pod: CountedPod): BudgetView;
}

export function recount(budget: BudgetFacts, snapshot: NamespaceObjects, now: number): Recount {
  const lookup = lookupIn(snapshot);
  const groupBy = budget.groupBy === 'unknown' ? undefined : budget.groupBy;
  const resolve = (pod: CountedPod) => resolvePod(groupBy, pod, lookup);
  const selected = snapshot.pods.filter((pod) => matches(budget.selector, pod.labels));
  const isHealthy = (pod: CountedPod): boolean => {
    const at = selected.includes(pod) ? budget.status.disruptedPods.get(pod.name) : undefined;
    const isGranted = selected.includes(pod) && isClaimedBy(budget.status.claims, pod.name, pod.uid);
    return isUp(pod) && !isGranted && !(at !== undefined && at + DISRUPTION_TIMEOUT_MS > now);
  };
  const mode = decideMode(budget, classify(selected, resolve));

  const families = new Map<string, number | undefined>();
  const brokenUnits = new Set<string>();
  for (const pod of selected) {
    const resolution = resolve(pod);
    if (resolution?.kind === 'gang') families.set(resolution.family, resolution.replicas);
    if (resolution?.kind === 'broken') brokenUnits.add(resolution.unit);
  }
  const members = new Map<string, Member[]>();
  for (const pod of snapshot.pods) {
    const gang = resolve(pod);
    if (gang?.kind !== 'gang' || !families.has(gang.family)) continue;
    const member = { gang, healthy: isHealthy(pod), claimed: isUp(pod) && !isHealthy(pod) };
    members.set(gang.unit, [...(members.get(gang.unit) ?? []), member]);
  }
  const units = new Map([...members].map(([key, list]) => [key, unitOf(list)]));

  const inGroups = mode.unit === 'PodGroup';
  let expectedUnits = 0;
  if (inGroups) {
    const told = families.size === 0 ? 0 : toldReplicas(groupBy);
    for (const [family, replicas] of told === undefined ? families : []) {
      expectedUnits += replicas ?? [...units.values()].filter((unit) => unit.family === family).length;
    }
    expectedUnits += told ?? 0;
    if (mode.settling !== undefined) expectedUnits = Math.max(expectedUnits, budget.status.expectedPods);
    if (budget.scope === 'PodGroup') expectedUnits += brokenUnits.size + mode.individual;
  }
  const healthy = inGroups
    ? [...units.values()].filter((unit) => unit.healthy >= unit.minCount).length
    : selected.filter(isHealthy).length;

  return {
    mode,
    pods: selected.length,
    healthy,
    expectedUnits,
    view(pod) {
      const resolution = inGroups ? resolve(pod) : undefined;
      const unit = resolution?.kind === 'gang' ? units.get(resolution.unit) : undefined;
      return {
        budget,
        mode,
        live: healthy,
        desired: inGroups ? computeDesired(budget, expectedUnits) : budget.status.desiredHealthy,
        allowed: budget.status.disruptionsAllowed,
        counted: isHealthy(pod),
        unit:
          unit && resolution?.kind === 'gang'
            ? { key: resolution.unit, healthy: unit.healthy, minCount: unit.minCount }
            : undefined,
        unresolved: resolution?.kind === 'broken',
      };
    },
  };
}

interface Member {
  readonly gang: Extract<Resolution, { kind: 'gang' }>;
  readonly healthy: boolean;
  readonly claimed: boolean;
}

function unitOf(members: readonly Member[]): { family: string; healthy: number; minCount: number } {
  const gang = members[0]?.gang;
  const minCount = Math.max(...members.map((member) => member.gang.minCount));
  const isUpIn = (leaf: string) => (member: Member) => member.healthy && member.gang.tree?.leaf === leaf;
  const healthy =
    gang?.tree === undefined
      ? members.filter((member) => member.healthy).length
      : minCount - distanceOf(gang.tree.needs, (leaf) => members.filter(isUpIn(leaf)).length);
  const most = members.some(({ claimed }) => claimed) ? minCount - 1 : minCount;
  return { family: gang?.family ?? '', minCount, healthy: gang?.whole ? Math.min(healthy, most) : healthy };
}

function classify(selected: readonly CountedPod[], resolve: (pod: CountedPod) => ReturnType<typeof resolvePod>) {
  const broken = new Map<BrokenReason, number>();
  const groupedOwners = new Set<string>();
  const bareOwners = new Set<string>();
  let grouped = 0;
  let basic = 0;
  let bare = 0;
  for (const pod of selected) {
    const resolution = resolve(pod);
    if (resolution === undefined) {
      bare += 1;
      if (pod.owner) bareOwners.add(pod.owner.uid);
    } else if (resolution.kind === 'gang') {
      grouped += 1;
      if (pod.owner) groupedOwners.add(pod.owner.uid);
    } else if (resolution.kind === 'basic') basic += 1;
    else broken.set(resolution.reason, (broken.get(resolution.reason) ?? 0) + 1);
  }
  return { grouped, basic, bare, broken, partlyLinked: [...groupedOwners].some((uid) => bareOwners.has(uid)) };
}

/** The lookup the resolvers need, over plain lists. */
export function lookupIn({
  composites = [],
  podGroups,
  sources,
  workloads,
}: Omit<NamespaceObjects, 'pods'>): GroupLookup {
  const lookup: GroupLookup = {
    workload: (name) => workloads.find((workload) => workload.name === name),
    podGroup: (name) => podGroups.find((group) => group.name === name),
    composite: (name) => composites.find((composite) => composite.name === name),
    tree: (composite) =>
      buildTree(composite, {
        childrenOf: (name) => ({
          groups: podGroups.filter(({ parent }) => parent === name),
          composites: composites.filter(({ parent }) => parent === name),
        }),
        minimumOf: (group) => minimumOfLeaf(group, lookup),
      }),
    liveGroups: (kind, template, parent) =>
      (kind === 'PodGroup' ? podGroups : composites).filter(
        (group) =>
          !group.terminating &&
          group.parent === parent &&
          group.template?.workload === template.workload &&
          group.template.name === template.name,
      ).length,
    source: (key) => sources?.get(key),
  };
  return lookup;
}
