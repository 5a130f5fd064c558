import { formatTime, isPercent } from '../../machinery/values/index.ts';
import { isLimitReason, LIMIT_FIELDS, type LimitRefusal, nextAllowed } from '../policies/index.ts';
import { needsExpectedScale } from './arithmetic.ts';
import type { BudgetFacts } from './budget-facts.ts';
import type { ShortUnit } from './short-units.ts';
import type { CountedPod } from './pod-facts.ts';
import type { BudgetView, Refusal } from './verdict.ts';

export type RemedyAction =
  | 'Wait'
  | 'MakePodsReady'
  | 'ChangeBudget'
  | 'ChangePolicy'
  | 'FixReference'
  | 'LeaveOneBudget';

/** One change that would let the eviction through. */
export interface Remedy {
  readonly action: RemedyAction;
  readonly text: string;
  /** Pods that would have to become Ready. */
  readonly pods?: readonly string[];
  /** What to set in the spec of the budget, for programs. */
  readonly change?: { readonly budget: string; readonly field: string; readonly value: number | string };
}

export interface UnitShortage {
  readonly down: readonly ShortUnit[];
  readonly expected: number;
}

/** The changes that would unblock a refused eviction, smallest first. */
export function remediesFor(
  { policies = [], reason, views }: Refusal,
  pod: CountedPod,
  shortage: UnitShortage,
): Remedy[] {
  if (isLimitReason(reason)) return remediesForLimits(policies);
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
    case 'NoRoom':
    case 'CannotTell':
      return [
        {
          action: 'Wait',
          text: `make room for all of what pod ${pod.name} belongs to, or wait until there is; budget ${name} asks for it (policy.quorate.dev/capacity)`,
        },
      ];
    case 'BuiltInCountTighter':
      return [heedBuiltIn(view)];
    case 'NodeNotDrainable':
    case 'BudgetExhausted':
      return remediesForUnits(view, shortage, costOf(view));
  }
}

/** Limits end by themselves, most of them at a time that is known. */
function remediesForLimits(refusals: readonly LimitRefusal[]): Remedy[] {
  const next = nextAllowed(refusals);
  const until = next === undefined ? 'wait until the policy allows it' : `wait until ${formatTime(next)}`;
  const changes = refusals.map(({ policy, reason }) => `spec.${LIMIT_FIELDS[reason]} of DisruptionPolicy ${policy}`);
  return [
    { action: 'Wait', text: until },
    { action: 'ChangePolicy', text: `change ${changes.join(' and ')}` },
  ];
}

function heedBuiltIn({ budget, published = budget.status }: BudgetView): Remedy {
  const { currentHealthy, desiredHealthy } = published;
  const text = `Kubernetes counts the pods of ${budget.name} as well (${currentHealthy} healthy, ${desiredHealthy} needed): wait until more of them are Ready, use an integer minAvailable or a PodUnavailableBudget, or run the operator in mode adopt, which counts groups there too`;
  return { action: 'ChangeBudget', text };
}

/** Names the groups that cannot be resolved; they come back, or the budget counts pods after its settling time. */
function waitForGroups({ budget }: Pick<BudgetView, 'budget'>, { down }: UnitShortage): Remedy {
  const missing = down.filter(({ unresolved }) => unresolved === true);
  const groups =
    missing.length === 0
      ? 'its groups'
      : list(
          missing.map(({ name }) => name ?? ''),
          'group',
        );
  const text = `wait until ${groups} can be resolved again; ${budget.name} counts pods if that takes longer than its settling time`;
  return { action: 'Wait', text };
}

/** What would let the budget lose this many more pods or groups. */
export function remediesForUnits(
  view: Omit<BudgetView, 'counted' | 'unresolved'>,
  { down, expected }: UnitShortage,
  cost: number,
): Remedy[] {
  if (down.some(({ unresolved }) => unresolved === true)) return [waitForGroups(view, { down, expected })];
  const uncountable = adviceForUncountable(view, cost);
  if (uncountable !== undefined) return [uncountable];
  const missing = view.desired + cost - view.live;
  if (missing <= 0) {
    const text = `wait until the disruption controller has published the new count of ${view.budget.name}`;
    return [{ action: 'Wait', text }];
  }
  const recovery = recover(view, { down, expected }, missing);
  const change = budgetChange(view.budget, { healthy: view.live - cost, expected, units: unitsOf(view) });
  // Giving up all protection is no advice where waiting or mending helps.
  if (recovery === undefined) return [change.remedy];
  return change.protectsNothing ? [recovery] : [recovery, change.remedy];
}

/**
 * A budget in pods that needs to know how many there should be, and whose pods have no controller that says so: waiting
 * never helps, an integer minAvailable does.
 */
function adviceForUncountable(
  { budget, live, mode }: Pick<BudgetView, 'budget' | 'live' | 'mode'>,
  cost: number,
): Remedy | undefined {
  if (mode.unit === 'PodGroup' || !needsExpectedScale(budget)) return undefined;
  const { disruptionAllowed, expectedPods } = budget.status;
  const failed = disruptionAllowed?.status === 'False' && disruptionAllowed.reason === 'SyncFailed';
  if (!failed && (expectedPods > 0 || live === 0)) return undefined;
  const why = failed
    ? `SyncFailed: ${disruptionAllowed.message ?? ''}`
    : 'its pods have no controller that says how many there should be';
  const field = budget.maxUnavailable === undefined ? 'the percentage' : 'maxUnavailable';
  const left = live - Math.max(1, cost);
  const instead =
    left > 0
      ? `replace ${field} by an integer, such as minAvailable: ${left}`
      : `replace ${field} by an integer minAvailable, and run more pods than that`;
  const text = `${budget.name} cannot be counted (${why}); waiting does not help: ${instead}`;
  return { action: 'ChangeBudget', text };
}

/** Units this eviction would take. */
export function costOf({ counted, mode, unit }: BudgetView): 0 | 1 {
  if (mode.unit === 'Pod') return counted ? 1 : 0;
  return unit !== undefined && counted && unit.healthy === unit.minCount ? 1 : 0;
}

/** The fewest pods that would have to come or become Ready; undefined when nothing that is expected is missing. */
function recover(
  view: Pick<BudgetView, 'budget' | 'live' | 'mode' | 'unit'>,
  { down, expected }: UnitShortage,
  missing: number,
): Remedy | undefined {
  const needed = ({ healthy, minCount }: ShortUnit): number => minCount - healthy;
  const mendable = down
    .filter(({ key }) => key === undefined || key !== view.unit?.key)
    // What is going as a whole comes back as another group, if at all.
    .sort((a, b) => Number(isGoing(a)) - Number(isGoing(b)) || needed(a) - needed(b))
    .slice(0, missing);
  const short = missing - mendable.length;
  const absent = view.mode.unit === 'PodGroup' ? expected - view.live - down.length : Number.POSITIVE_INFINITY;
  const isFixed = view.budget.maxUnavailable === undefined && typeof view.budget.minAvailable === 'number';
  if (short > 0 && (isFixed ? view.mode.unit === 'Pod' || absent < short : absent <= 0)) return undefined;
  const pods = mendable.flatMap((unit) => unit.missing.slice(0, needed(unit)).map(({ pod }) => pod.name));
  const verb = pods.length === 1 ? 'becomes' : 'become';
  const waits = pods.length === 0 ? [] : [`${list(pods)} ${verb} Ready again`];
  for (const unit of mendable) {
    const count = needed(unit) - unit.missing.length;
    if (count > 0)
      waits.push(
        `${count} more ${count === 1 ? 'pod' : 'pods'} of group ${unit.name ?? ''} ${count === 1 ? 'exists' : 'exist'} and ${count === 1 ? 'is' : 'are'} Ready`,
      );
  }
  if (short > 0) {
    if (waits.length === 0) {
      const text = `${short} more ${unitsOf(view)} of those expected must be created and become healthy`;
      return { action: 'MakePodsReady', text };
    }
    waits.push(`${short} more ${unitsOf(view)} of those expected are created and healthy`);
  }
  return { action: 'MakePodsReady', text: `wait until ${waits.join(' and ')}`, ...(pods.length > 0 && { pods }) };
}

function isGoing({ key, members, missing }: ShortUnit): boolean {
  const going = missing.filter(({ pod }) => pod.deletionTimestamp !== undefined);
  return key !== undefined && going.length === members;
}

interface BudgetChange {
  readonly remedy: Remedy;
  /** What is left of the budget would hold nothing back. */
  readonly protectsNothing: boolean;
}

function budgetChange(
  { maxUnavailable, minAvailable, name }: BudgetFacts,
  { expected, healthy, units }: { expected: number; healthy: number; units: string },
): BudgetChange {
  const floor = Math.max(0, healthy);
  const change = (field: string, value: number | string): BudgetChange => ({
    remedy: {
      action: 'ChangeBudget',
      text: `set ${field} of ${name} to ${value} (${units})`,
      change: { budget: name, field, value },
    },
    protectsNothing: floor === 0,
  });
  if (maxUnavailable !== undefined) return change('maxUnavailable', Math.max(0, expected - floor));
  if (minAvailable === undefined) return change('minAvailable', floor);
  if (isPercent(minAvailable))
    return change('minAvailable', expected > 0 ? `${Math.floor((floor * 100) / expected)}%` : '0%');
  return change('minAvailable', floor);
}

const unitsOf = ({ mode }: Pick<BudgetView, 'mode'>): string => (mode.unit === 'PodGroup' ? 'pod groups' : 'pods');

function list(names: readonly string[], one = 'pod'): string {
  const shown = names.slice(0, 5).join(', ');
  const rest = names.length - 5;
  const noun = names.length === 1 ? one : `${one}s`;
  return rest > 0 ? `${noun} ${shown} and ${rest} more` : `${noun} ${shown}`;
}
