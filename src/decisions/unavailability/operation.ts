import type { Container, Pod } from '../../api/generated/core-v1.ts';
import type { PodUnavailableBudgetSpec, ProtectedOperation } from '../../api/kruise/types.ts';
import { deepClone, deepEqual } from '../../machinery/values/index.ts';
import { groupIdentity } from './groups.ts';
import { relatedBudgetOf } from './budget-index.ts';
import { hasUnavailableLabel } from './pod-state.ts';

const DEFAULT_OPERATIONS: readonly string[] = ['DELETE', 'UPDATE', 'EVICT'];

export interface UnavailabilityGates {
  /** Guards deletes and evictions. */
  readonly deletes: boolean;
  /** Guards updates and resizes. */
  readonly updates: boolean;
  /** Resizes are an operation of their own: guarded only where a budget lists them. */
  readonly verticalScaling: boolean;
  /** Budgets may count groups. Default true. */
  readonly groups?: boolean;
}

/** True when the budget guards the operation, given the gates. */
export function protects(
  { protectOperations }: Pick<PodUnavailableBudgetSpec, 'protectOperations'>,
  operation: ProtectedOperation,
  gates: UnavailabilityGates,
  /** Operations of the annotation as they stand there, in compatibility mode only. */
  annotated: readonly string[] = [],
): boolean {
  const named = protectOperations?.length ? protectOperations : annotated;
  const listed = named.length > 0 ? named : DEFAULT_OPERATIONS;
  if (operation === 'DELETE' || operation === 'EVICT') return gates.deletes && listed.includes(operation);
  if (!gates.updates) return false;
  if (operation === 'RESIZE' && !gates.verticalScaling) return listed.includes('UPDATE') || listed.includes('RESIZE');
  return listed.includes(operation);
}

/**
 * Which guarded operation an update of a pod is; undefined for one that disturbs nothing. `groupLabelKeys` are those of
 * the budgets that cover the old pod: leaving a group disturbs it as much as going away.
 */
export function classifyUpdate(
  pod: Pod,
  old: Pod,
  groupLabelKeys: readonly string[] = [],
): ProtectedOperation | undefined {
  if (!hasUnavailableLabel(old.metadata.labels) && hasUnavailableLabel(pod.metadata.labels)) return 'UPDATE';
  for (const key of groupLabelKeys) {
    const before = groupIdentity(key, old.metadata.labels);
    if (before !== undefined && before !== groupIdentity(key, pod.metadata.labels)) return 'UPDATE';
  }
  if (deepEqual(pod.spec, old.spec)) return undefined;
  return isPureResize(pod, old) ? 'RESIZE' : 'UPDATE';
}

/**
 * Updates that OpenKruise's webhook lets pass unasked: those of the resize subresource, and those after which no
 * annotation names a budget, also where the update itself took it away.
 */
export function isUnseenByKruise(pod: Pod, subresource: string | undefined): boolean {
  return subresource === 'resize' || relatedBudgetOf(pod) === undefined;
}

/** Only cpu or memory of containers differ, the pod is not static, and no container must restart for it. */
export function isPureResize(pod: Pod, old: Pod): boolean {
  if (old.metadata.annotations?.['kubernetes.io/config.source'] === 'file') return false;
  if (old.status?.qosClass !== undefined && pod.status?.qosClass !== old.status.qosClass) return false;
  return deepEqual(withoutResources(pod), withoutResources(old)) && !needsRestart(pod, old);
}

function withoutResources({ spec }: Pod): unknown {
  const copy = deepClone(spec);
  for (const container of copy?.containers ?? []) {
    for (const list of [container.resources?.requests, container.resources?.limits]) {
      if (list !== undefined) for (const name of ['cpu', 'memory']) delete list[name];
    }
  }
  return copy;
}

function needsRestart(pod: Pod, old: Pod): boolean {
  const before = new Map((old.spec?.containers ?? []).map((container) => [container.name, container]));
  return (pod.spec?.containers ?? []).some((container) => {
    const previous = before.get(container.name);
    return (container.resizePolicy ?? []).some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' &&
        amountOf(container, resourceName) !== (previous && amountOf(previous, resourceName)),
    );
  });
}

function amountOf({ resources }: Container, resource: string): string {
  return `${resources?.requests?.[resource] ?? ''}/${resources?.limits?.[resource] ?? ''}`;
}

/** Why a budget cannot be written with these gates; undefined when it can. */
export function closedGate(spec: PodUnavailableBudgetSpec, gates: UnavailabilityGates): string | undefined {
  if (!gates.deletes && !gates.updates) {
    return 'feature PodUnavailableBudget is invalid, please open via feature-gate(PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate)';
  }
  return spec.podGroupPolicy !== undefined && gates.groups === false
    ? 'spec.podGroupPolicy is invalid, please open via feature-gate(PodUnavailableBudgetGroupPolicy)'
    : undefined;
}
