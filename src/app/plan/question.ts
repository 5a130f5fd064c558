import { controllerOf } from '../../api/core/owner.ts';
import type { Container, Node, Pod } from '../../api/generated/core-v1.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { PlanBudget, PlanNode, PlanPod, PlanQuestion, PlanUnit } from '../../decisions/drain-plan/index.ts';
import { parseMillis, parseUnits } from '../../machinery/values/index.ts';

export interface QuestionInput {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly index: DisruptionIndex;
  readonly drain: ReadonlySet<string>;
  readonly nodesReturn: boolean;
  readonly now: number;
}

const RESOURCES = ['cpu', 'memory', 'pods'] as const;

/**
 * What the planner is asked, from what a cluster says. DaemonSet and mirror pods stay with their node and finished pods
 * hold nothing, so neither is moved; what they request still takes room.
 */
export function buildQuestion({ drain, index, nodes, nodesReturn, now, pods }: QuestionInput): PlanQuestion {
  const units = new Map<string, PlanUnit>();
  const budgets = new Map<string, PlanBudget>();
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
    const unit = unitOf(pod, index, now, budgets);
    if (!units.has(unit.id)) units.set(unit.id, unit);
    planned.push({ id: idOf(pod), node, unit: unit.id, requests });
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
    budgets: [...budgets.values()],
    nodesReturn,
  };
}

function unitOf(pod: Pod, index: DisruptionIndex, now: number, budgets: Map<string, PlanBudget>): PlanUnit {
  const { name = '', namespace = '' } = pod.metadata;
  const views = index.ask(namespace, name, now)?.views ?? [];
  for (const { budget, desired, live } of views) {
    const id = `${namespace}/${budget.name}`;
    if (!budgets.has(id)) budgets.set(id, { id, allowance: live - desired });
  }
  const own = views.map(({ budget }) => `${namespace}/${budget.name}`);
  const group = views.find(({ unit }) => unit !== undefined)?.unit;
  if (group !== undefined) {
    return { id: group.key, budgets: own, healthy: group.healthy, needed: group.minCount, wholesale: false };
  }
  const ready = (pod.status?.conditions ?? []).some(({ status, type }) => type === 'Ready' && status === 'True');
  return { id: idOf(pod), budgets: own, healthy: ready ? 1 : 0, needed: 1, wholesale: false };
}

const idOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

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
