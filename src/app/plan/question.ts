import { controllerOf } from '../../api/core/owner.ts';
import type { Container, Node, Pod } from '../../api/generated/core-v1.ts';
import type { PlanNode, PlanPod, PlanQuestion, PlanUnit } from '../../decisions/drain-plan/index.ts';
import { idOf, UnitFinder, type UnitSources } from './units.ts';
import { parseMillis, parseUnits } from '../../machinery/values/index.ts';

export interface QuestionInput {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly groups: UnitSources;
  readonly drain: ReadonlySet<string>;
  readonly nodesReturn: boolean;
  readonly now: number;
}

const RESOURCES = ['cpu', 'memory', 'pods'] as const;

/**
 * What the planner is asked, from what a cluster says. DaemonSet and mirror pods stay with their node and finished pods
 * hold nothing, so neither is moved; what they request still takes room.
 */
export function buildQuestion({ drain, groups, nodes, nodesReturn, now, pods }: QuestionInput): PlanQuestion {
  const units = new Map<string, PlanUnit>();
  // Every node is cordoned before the first step.
  const isCordoned = (node: string): boolean => drain.has(node) || groups.isCordoned?.(node) === true;
  const finder = new UnitFinder({ ...groups, isCordoned }, pods, now);
  const planned: PlanPod[] = [];
  const used = new Map<string, number[]>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? '';
    if (node === '' || isFinished(pod)) continue;
    const requests = requestsOf(pod);
    const taken = used.get(node) ?? [0, 0, 0];
    used.set(
      node,
      taken.map((amount, at) => amount + (requests[at] ?? 0)),
    );
    if (isBoundToNode(pod)) continue;
    const { cells, contested, unit } = finder.find(pod);
    units.set(unit.id, joined(units.get(unit.id), unit));
    planned.push({
      id: idOf(pod),
      node,
      unit: unit.id,
      requests,
      ...(cells.length > 0 && { cells }),
      ...(contested.length > 0 && { contested }),
    });
  }
  return {
    resources: RESOURCES,
    nodes: nodes.map((node): PlanNode => {
      const { name = '' } = node.metadata;
      const taken = used.get(name) ?? [0, 0, 0];
      const free = allocatableOf(node).map((amount, at) => Math.max(0, amount - (taken[at] ?? 0)));
      const closed = node.spec?.unschedulable === true && !drain.has(name);
      return { name, free: closed ? [0, 0, 0] : free, drain: drain.has(name) };
    }),
    pods: planned,
    units: [...units.values()],
    budgets: finder.budgets(),
    nodesReturn,
  };
}

/** A budget may select only some members of a unit: it counts the unit all the same. */
function joined(known: PlanUnit | undefined, unit: PlanUnit): PlanUnit {
  if (known === undefined) return unit;
  const budgets = [...new Set([...known.budgets, ...unit.budgets])];
  return budgets.length === known.budgets.length ? known : { ...unit, budgets };
}

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

function isBoundToNode(pod: Pod): boolean {
  return (
    controllerOf(pod)?.kind === 'DaemonSet' || pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  );
}

/** Containers run together, init containers one after the other before them. */
function requestsOf({ spec }: Pod): number[] {
  const sum = (containers: readonly Container[], resource: 'cpu' | 'memory'): number =>
    containers.reduce((total, { resources }) => total + amount(resources?.requests?.[resource], resource), 0);
  const most = (containers: readonly Container[], resource: 'cpu' | 'memory'): number =>
    Math.max(0, ...containers.map(({ resources }) => amount(resources?.requests?.[resource], resource)));
  const need = (resource: 'cpu' | 'memory'): number =>
    Math.max(sum(spec?.containers ?? [], resource), most(spec?.initContainers ?? [], resource));
  return [need('cpu'), need('memory'), 1];
}

function amount(quantity: string | undefined, resource: 'cpu' | 'memory'): number {
  if (quantity === undefined) return 0;
  return resource === 'cpu' ? parseMillis(quantity) : parseUnits(quantity);
}

function allocatableOf({ status }: Node): number[] {
  const { cpu, memory, pods } = status?.allocatable ?? {};
  return [amount(cpu, 'cpu'), amount(memory, 'memory'), pods === undefined ? 110 : parseUnits(pods)];
}
