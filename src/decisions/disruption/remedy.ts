import { isPercent } from '../../machinery/values/index.ts';
import type { BudgetFacts } from './budget-facts.ts';
import type { ShortUnit } from './disruption-index.ts';
import type { PodFacts } from './pod-facts.ts';
import type { BudgetView, Refusal } from './verdict.ts';

export type RemedyAction = 'Wait' | 'MakePodsReady' | 'ChangeBudget' | 'FixReference' | 'LeaveOneBudget';

/** One change that would let the eviction through. */
export interface Remedy {
  readonly action: RemedyAction;
  readonly text: string;
  /** Pods that would have to become Ready. */
  readonly pods?: readonly string[];
}

export interface Shortage {
  readonly down: readonly ShortUnit[];
  readonly expected: number;
}

/** The changes that would unblock a refused eviction, smallest first. */
export function remediesFor({ reason, views }: Refusal, pod: PodFacts, shortage: Shortage): Remedy[] {
  const view = views[0] as BudgetView;
  const { name } = view.budget;
  switch (reason) {
    case 'MultipleBudgets': {
      const names = views.map(({ budget }) => budget.name).join(', ');
      return [
        { action: 'LeaveOneBudget', text: `change the selectors of ${names} so that only one selects pod ${pod.name}` },
      ];
    }
    case 'BudgetNotObserved':
      return [{ action: 'Wait', text: `wait until the disruption controller has seen the latest spec of ${name}` }];
    case 'ModeNotObserved':
      return [{ action: 'Wait', text: `wait until the disruption controller has counted ${name} in ${unitsOf(view)}` }];
    case 'NegativeAllowance':
    case 'TooManyDisruptedPods':
      return [
        {
          action: 'Wait',
          text: `check that the disruption controller is running; the status of ${name} is not being kept`,
        },
      ];
    case 'NotSettled':
      return [waitForGroups(view, shortage)];
    case 'GroupUnresolved':
      return [{ action: 'FixReference', text: `create the Workload or PodGroup that pod ${pod.name} names` }];
    case 'NodeNotDrainable':
    case 'BudgetExhausted':
      return remediesForUnits(view, shortage, costOf(view));
  }
}

/** Names the groups that cannot be resolved; they come back, or the budget counts pods after its settling time. */
function waitForGroups({ budget }: BudgetView, { down }: Shortage): Remedy {
  const missing = down.filter(({ unresolved }) => unresolved === true);
  const groups = missing.length === 0 ? 'its groups' : list(missing.map(({ key }) => key ?? ''));
  const text = `wait until ${groups} can be resolved again; ${budget.name} counts pods if that takes longer than its settling time`;
  return { action: 'Wait', text };
}

/** What would let the budget lose this many more pods or groups. */
export function remediesForUnits(
  view: Omit<BudgetView, 'counted' | 'unresolved'>,
  { down, expected }: Shortage,
  cost: number,
): Remedy[] {
  const missing = view.desired + cost - view.live;
  const change = budgetChange(view.budget, { healthy: view.live - cost, expected, units: unitsOf(view) });
  if (missing <= 0) {
    const text = `wait until the disruption controller has published the new count of ${view.budget.name}`;
    return [{ action: 'Wait', text }];
  }
  const recovery = recover(view, down, missing);
  return [recovery, change].filter((remedy) => remedy !== undefined);
}

/** Units this eviction would take. */
export function costOf({ counted, mode, unit }: BudgetView): 0 | 1 {
  if (mode.unit === 'Pod') return counted ? 1 : 0;
  return unit !== undefined && counted && unit.healthy === unit.minCount ? 1 : 0;
}

/** The fewest pods that would have to become Ready; undefined when even all of those seen would not be enough. */
function recover(
  view: Pick<BudgetView, 'budget' | 'mode' | 'unit'>,
  down: readonly ShortUnit[],
  missing: number,
): Remedy | undefined {
  const needed = ({ healthy, minCount }: ShortUnit): number => minCount - healthy;
  const mendable = down
    .filter((unit) => unit.missing.length >= needed(unit) && (unit.key === undefined || unit.key !== view.unit?.key))
    .sort((a, b) => needed(a) - needed(b))
    .slice(0, missing);
  if (mendable.length < missing) {
    const count = missing - mendable.length;
    if (view.budget.maxUnavailable === undefined && typeof view.budget.minAvailable === 'number') return undefined;
    return {
      action: 'MakePodsReady',
      text: `${count} more ${unitsOf(view)} of those expected must be created and become healthy`,
    };
  }
  const pods = mendable.flatMap((unit) => unit.missing.slice(0, needed(unit)).map(({ pod }) => pod.name));
  const verb = pods.length === 1 ? 'becomes' : 'become';
  return { action: 'MakePodsReady', text: `wait until ${list(pods)} ${verb} Ready again`, pods };
}

function budgetChange(
  { maxUnavailable, minAvailable, name }: BudgetFacts,
  { expected, healthy, units }: { expected: number; healthy: number; units: string },
): Remedy | undefined {
  const text = (field: string, value: number | string): Remedy => ({
    action: 'ChangeBudget',
    text: `set ${field} of ${name} to ${value} (${units})`,
  });
  const floor = Math.max(0, healthy);
  if (maxUnavailable !== undefined) return text('maxUnavailable', Math.max(0, expected - floor));
  if (minAvailable === undefined) return text('minAvailable', floor);
  if (isPercent(minAvailable))
    return text('minAvailable', expected > 0 ? `${Math.floor((floor * 100) / expected)}%` : '0%');
  return text('minAvailable', floor);
}

const unitsOf = ({ mode }: Pick<BudgetView, 'mode'>): string => (mode.unit === 'PodGroup' ? 'pod groups' : 'pods');

function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  const rest = names.length - 5;
  const noun = names.length === 1 ? 'pod' : 'pods';
  return rest > 0 ? `${noun} ${shown} and ${rest} more` : `${noun} ${shown}`;
}
