import type { BlockerKind, MaintenanceBlocker, PlannedBlock } from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { PodExplanation } from '../all-budgets/index.ts';
import { isRefusalReason } from '../disruption/index.ts';
import { isLimitReason } from '../policies/index.ts';
import type { NewBlocker } from './facts.ts';

const MAX_BLOCKERS = 50;
const MAX_PODS = 10;
const MAX_REMEDIES = 5;

const keyOf = ({ group, kind, name, namespace, reason }: NewBlocker): string =>
  JSON.stringify([kind, namespace, name, group, reason]);

/** Gives blockers the time since when they are in the way: what was so before goes on. */
export function sinceBefore(
  blockers: readonly NewBlocker[],
  before: readonly MaintenanceBlocker[] | undefined,
  now: number,
): MaintenanceBlocker[] {
  const known = new Map((before ?? []).map((one) => [keyOf(one), one.since]));
  const unique = new Map(blockers.map((one) => [keyOf(one), one]));
  return [...unique]
    .slice(0, MAX_BLOCKERS)
    .map(([key, blocker]) => ({ ...blocker, since: known.get(key) ?? formatTime(now) }));
}

export function withoutSince({ since: _since, ...blocker }: MaintenanceBlocker): NewBlocker {
  return blocker;
}

const withPods = (pods: readonly string[]): Pick<NewBlocker, 'pods' | 'podsTotal'> =>
  pods.length === 0 ? {} : { pods: pods.slice(0, MAX_PODS), podsTotal: pods.length };

export function podBlocker(blocker: Omit<NewBlocker, 'pods' | 'podsTotal'>, pods: readonly string[]): NewBlocker {
  return { ...blocker, ...withPods(pods) };
}

/** Which budget keeps a group, by the explanation that `quorate why` gives. */
export function budgetBlocker(group: string, pods: readonly string[], explanation: PodExplanation): NewBlocker {
  const { budgets, namespace, policies = [], reason, remedies, unavailability = [] } = explanation;
  const shared = { namespace, group, ...withPods(pods) };
  const guard = unavailability.find(({ allowed }) => !allowed);
  if (!isRefusalReason(reason) && guard !== undefined) {
    return {
      kind: 'PodUnavailableBudget',
      name: guard.budget,
      ...shared,
      reason: 'BudgetAllowsNone',
      message: guard.message ?? `PodUnavailableBudget ${guard.budget} lets nothing go now`,
      remedies: guard.causes.map(({ message }) => message).slice(0, MAX_REMEDIES),
    };
  }
  if (isLimitReason(reason)) {
    const [first] = policies;
    return {
      kind: 'DisruptionPolicy',
      name: first?.policy.split('/')[1] ?? '',
      ...shared,
      reason: 'TimeBudget',
      message: first?.message ?? reason,
      remedies: remedies.map(({ text }) => text).slice(0, MAX_REMEDIES),
    };
  }
  const [budget] = budgets;
  const overlapping = reason === 'MultipleBudgets';
  const broken = budget !== undefined && budget.healthy < budget.desired;
  const counts = budget?.counts === 'PodGroup' ? 'groups' : 'pods';
  return {
    kind: 'PodDisruptionBudget',
    ...(budget !== undefined && { name: budget.name }),
    ...shared,
    reason: overlapping ? 'OverlappingBudgets' : broken ? 'BudgetBroken' : 'BudgetAllowsNone',
    message: overlapping
      ? `${budgets.map(({ name }) => name).join(', ')} all select a pod of it`
      : budget === undefined
        ? 'a budget refuses'
        : `needs ${budget.desired} ${counts}, has ${budget.healthy} (${budget.asks}); ${budget.allowed} may go now`,
    remedies: remedies.map(({ text }) => text).slice(0, MAX_REMEDIES),
  };
}

const KINDS: Readonly<Record<string, BlockerKind>> = {
  NoRoom: 'Capacity',
  CannotTell: 'Capacity',
  UnmanagedPods: 'Pod',
  LocalStorage: 'Pod',
  ReplanNeedsMore: 'Maintenance',
};

const REMEDIES: Readonly<Record<string, string>> = {
  UnmanagedPods: 'delete the pod, or create the maintenance with pods.force',
  LocalStorage: 'create the maintenance with pods.deleteEmptyDirData',
  ReplanNeedsMore: 'set spec.replan to Any',
  NoRoom: 'add nodes or free room; or create the maintenance with capacity: Ignore',
};

/** A group that the plan leaves, where no budget explains it. */
export function plannedBlocker(
  { budgets = [], group, pods = [], reason, text }: PlannedBlock,
  maintenance: string,
): NewBlocker {
  const kind = KINDS[reason];
  const remedy = REMEDIES[reason];
  const tail = { group, ...withPods(pods), reason, ...(remedy !== undefined && { remedies: [remedy] }) };
  if (kind === 'Maintenance') return { kind, name: maintenance, ...tail, message: text ?? reason };
  if (kind !== undefined) {
    const [namespace = '', name = ''] = kind === 'Pod' ? (pods[0] ?? '').split('/') : [group.split('/')[0] ?? ''];
    return { kind, ...(kind === 'Pod' && { name }), namespace, ...tail, message: text ?? reason };
  }
  const [namespace = '', ...rest] = (budgets[0] ?? '').replace(/ \(.*$/, '').split('/');
  const isGuard = rest[0] === 'pub';
  const name = isGuard ? (rest[1] ?? '') : (rest[0] ?? '');
  const named: BlockerKind = isGuard ? 'PodUnavailableBudget' : 'PodDisruptionBudget';
  return { kind: named, name, namespace, ...tail, message: text ?? `${budgets.join(', ')} cannot lose it` };
}

/** The first thing that is waited for, in at most 40 characters. */
export function tellBlocker({ group, kind, name = '', namespace }: MaintenanceBlocker): string {
  const short: Partial<Record<BlockerKind, string>> = { PodDisruptionBudget: 'pdb', PodUnavailableBudget: 'pub' };
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  const text = kind === 'Capacity' ? `room for ${group ?? name}` : `${short[kind] ?? kind.toLowerCase()} ${where}`;
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
