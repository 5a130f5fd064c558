import { isMirrorPod, isPodFinished } from '../../api/core/pod-state.ts';
import { controllerOf } from '../../api/core/owner.ts';
import type { Pod, PodTemplateSpec } from '../../api/generated/core-v1.ts';
import type { PlanPod, PlanQuestion, PlanUnit } from '../drain-plan/index.ts';
import { compareCost, costedUnit } from '../group-cost/index.ts';
import {
  type Assumption,
  type Cluster,
  type PodFacts,
  podFacts,
  replacementOf,
  type TopologyRule,
} from '../placement/index.ts';
import { type RecoveryOf, slower, StartTimes, type ToldTimes } from './times.ts';
import { idOf, UnitFinder, type UnitSources } from './units.ts';

export interface QuestionInput {
  /** Nodes, volumes and devices; pods are placed here. */
  readonly cluster: Cluster;
  readonly pods: readonly Pod[];
  readonly groups: UnitSources;
  readonly drain: ReadonlySet<string>;
  readonly nodesReturn: boolean;
  readonly now: number;
  /** The pod template of a controller, by its UID. */
  readonly templateOf?: ((owner: string) => PodTemplateSpec | undefined) | undefined;
  /** The node labels that a pod's group, and composites above it, keep to. */
  readonly topologyOf?: ((pod: Pod) => readonly TopologyRule[]) | undefined;
  /** Whether a pod's group has no minimum, so that its scheduler takes the pods as they come. */
  readonly apartOf?: ((pod: Pod) => boolean) | undefined;
  readonly searches?: ((pod: PodFacts) => boolean) | undefined;
  /** What was told about how long pods take. */
  readonly times?: ToldTimes | undefined;
  readonly recoveryOf?: RecoveryOf | undefined;
  readonly nodeDowntimeSeconds?: number | undefined;
  readonly reserve?: boolean | undefined;
  readonly allowExchange?: boolean | undefined;
}

/**
 * What the planner is asked, from what a cluster says. DaemonSet and mirror pods stay with their node and finished pods
 * hold nothing, so neither is moved; what they request still takes room. A pod without a controller does not come back.
 */
export function buildQuestion(input: QuestionInput): PlanQuestion {
  const { apartOf, cluster, drain, groups, nodesReturn, now, pods, searches, templateOf, topologyOf } = input;
  const units = new Map<string, PlanUnit>();
  // Every node is cordoned before the first step.
  const isCordoned = (node: string): boolean => drain.has(node) || groups.isCordoned?.(node) === true;
  const finder = new UnitFinder({ ...groups, isCordoned }, pods, now);
  const planned: PlanPod[] = [];
  const members = new Map<string, Pod[]>();
  const startTimes = new StartTimes(pods, input.times ?? {}, input.recoveryOf);
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? '';
    if (node === '' || isPodFinished(pod)) continue;
    const facts = podFacts(pod, cluster.resources);
    cluster.place(facts, node);
    if (isBoundToNode(pod)) continue;
    const { cells, contested, unit } = finder.find(pod);
    const owner = controllerOf(pod)?.uid;
    const template = owner === undefined ? undefined : templateOf?.(owner);
    const topology = topologyOf?.(pod) ?? [];
    const assumptions: Assumption[] = template === undefined ? ['SameSpec'] : [];
    members.set(unit.id, [...(members.get(unit.id) ?? []), pod]);
    const known = units.get(unit.id);
    const next = joined(known, { ...unit, assumptions, ...topologyWith(topology, apartOf?.(pod) === true) });
    units.set(unit.id, { ...next, time: slower(known?.time, startTimes.of(pod, unit.id)) });
    planned.push({
      id: idOf(pod),
      node,
      unit: unit.id,
      facts,
      replacement: owner === undefined ? undefined : podFacts(replacementOf(pod, template), cluster.resources),
      ...(cells.length > 0 && { cells }),
      ...(contested.length > 0 && { contested }),
    });
  }
  return {
    cluster,
    ...(searches && { searches }),
    nodes: cluster.nodes.map(({ name }) => ({ name, drain: drain.has(name) })),
    pods: planned,
    units: ranked([...units.values()], members, now),
    budgets: finder.budgets(),
    nodesReturn,
    ...(input.nodeDowntimeSeconds !== undefined && { nodeDowntimeSeconds: input.nodeDowntimeSeconds }),
    ...(input.reserve === true && { reserve: true }),
    ...(input.allowExchange === true && { allowExchange: true }),
  };
}

/** Units with their place in the order of going. */
function ranked(units: readonly PlanUnit[], members: ReadonlyMap<string, readonly Pod[]>, now: number): PlanUnit[] {
  const costs = units.map(({ healthy, id, needed }) => ({
    ...costedUnit({ id, pods: members.get(id) ?? [], now }),
    broken: healthy < needed,
  }));
  const ranks = new Map(costs.sort(compareCost).map(({ id }, at) => [id, at]));
  return units.map((unit) => ({ ...unit, rank: ranks.get(unit.id) ?? 0 }));
}

const topologyWith = (topology: readonly TopologyRule[], apart: boolean): Partial<PlanUnit> =>
  topology.length === 0 ? {} : { topology, ...(apart && { apart }) };

const sameRule = (a: TopologyRule, b: TopologyRule): boolean => a.key === b.key && a.among === b.among;

/** A budget may select only some members of a unit: it counts the unit all the same. */
function joined(known: PlanUnit | undefined, unit: PlanUnit): PlanUnit {
  if (known === undefined) return unit;
  const budgets = [...new Set([...known.budgets, ...unit.budgets])];
  // Groups that go as one may keep to different labels: all of them bind the whole, which is never too little.
  const more = unit.topology?.filter((rule) => !known.topology?.some((one) => sameRule(one, rule))) ?? [];
  const topology = more.length === 0 ? known.topology : [...(known.topology ?? []), ...more];
  if (budgets.length === known.budgets.length && more.length === 0) return known;
  return { ...unit, budgets, ...(topology && { topology }) };
}

/** Pods that no drain moves. */
export function isBoundToNode(pod: Pod): boolean {
  return controllerOf(pod)?.kind === 'DaemonSet' || isMirrorPod(pod);
}
