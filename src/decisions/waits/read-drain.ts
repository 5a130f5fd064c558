import { isFinished, type Maintenance, type MaintenanceBlocker } from '../../api/quorate/maintenance.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { currentStep, isYielding } from '../maintenance/index.ts';
import { budgetId, drainId, groupId, roomAwayId, type WaitingDrain } from './model.ts';

/** A drain, and what it says of what it waits for. */
export interface ReadDrain extends WaitingDrain {
  readonly maintenance: Maintenance;
  readonly budgets: readonly BudgetRef[];
  /** Groups of its step that it waits for, as plans name them. */
  readonly groups: readonly string[];
  /** Groups that would find no room elsewhere. */
  readonly homeless: readonly string[];
}

export interface BudgetRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Drivers that remove the nodes they drain. */
const REMOVE_NODES: ReadonlySet<string> = new Set(['Karpenter', 'cluster-autoscaler', 'Cluster API']);

/** What waits for nothing that is in the graph: it ends by itself, or takes a person. */
const OUTSIDE: ReadonlySet<string> = new Set(['Access', 'Node']);

/** Drains that are not finished. `unfinished` has the names of all of them. */
export function readDrains(maintenances: readonly Maintenance[], now: number): ReadDrain[] {
  const open = maintenances.filter((one) => !isFinished(one));
  const unfinished = new Set(open.map(({ metadata }) => metadata.name ?? ''));
  return open.map((one) => readDrain(one, now, unfinished));
}

function readDrain(maintenance: Maintenance, now: number, unfinished: ReadonlySet<string>): ReadDrain {
  const { metadata, spec, status = {} } = maintenance;
  const observed = spec?.source;
  const id = drainId(metadata.name ?? '');
  const blockers = status.phase === 'Blocked' || observed !== undefined ? (status.blockers ?? []) : [];
  const outside = blockers.some(({ kind, reason }) => OUTSIDE.has(kind) || !isInGraph(kind, reason));
  const budgets = blockers.flatMap(({ kind, name, namespace }) =>
    (kind === 'PodDisruptionBudget' || kind === 'PodUnavailableBudget') && name !== undefined
      ? [{ kind, namespace: namespace ?? '', name }]
      : [],
  );
  const recovering =
    status.step?.activity === 'Recovering' && (status.phase === 'Running' || status.phase === 'Blocked');
  const groups = recovering
    ? (currentStep(maintenance)?.evictions ?? []).filter(({ disrupts }) => disrupts).map(({ group }) => group)
    : [];
  const homeless = blockers.flatMap(({ group, reason }) => (reason === 'NoRoom' && group !== undefined ? [group] : []));
  const claims = blockers.flatMap(({ name, reason }) => (reason === 'NodeClaimed' && name !== undefined ? [name] : []));
  const waitsFor = [
    ...budgets.map(({ kind, name, namespace }) => budgetId(kind, namespace, name)),
    ...groups.map(groupId),
    ...homeless.map((group) => roomAwayId(group, id)),
    ...claims.map(drainId),
  ];
  const steered = spec?.paused === true || spec?.cancelled === true || metadata.deletionTimestamp !== undefined;
  return {
    id,
    maintenance,
    isLive: steered || outside || waitsFor.length === 0 || isYielding(maintenance, now, (name) => unfinished.has(name)),
    waitsFor: [...new Set(waitsFor)],
    isOurs: observed === undefined,
    returns:
      observed === undefined
        ? spec?.nodesReturn === true || (spec?.uncordon ?? 'Never') !== 'Never'
        : !REMOVE_NODES.has(observed.driver),
    cost: {
      groupsDown: status.groups?.downNow ?? 0,
      podsMoved: countMoved(maintenance),
      nodesDrained: status.nodesDrained ?? 0,
      deadline: parseTime(spec?.deadline),
      createdAt: parseTime(metadata.creationTimestamp) ?? 0,
    },
    budgets,
    groups,
    homeless,
  };
}

function isInGraph(kind: MaintenanceBlocker['kind'], reason: string): boolean {
  if (kind === 'PodDisruptionBudget' || kind === 'PodUnavailableBudget') return reason !== 'CannotTell';
  return reason === 'NoRoom' || reason === 'NodeClaimed' || reason === 'RecoverySlow';
}

function countMoved({ status }: Maintenance): number {
  const evictions = status?.plan?.steps.flatMap((step) => step.evictions) ?? [];
  return evictions.filter(({ begun }) => begun === true).reduce((sum, { pods }) => sum + pods.length, 0);
}
