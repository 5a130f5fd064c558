import { computeAllowed, computeDesired } from './arithmetic.ts';
import type { BudgetFacts } from './budget-facts.ts';
import type { DisruptionTally } from './budget-tally.ts';
import type { PodRecord, Unit } from './records.ts';
import type { BudgetView, UnitView } from './verdict.ts';

/** What a budget says of one pod now. `again`: a grant that a ledger has for this very pod is left out. */
export function viewOf(tally: DisruptionTally, record: PodRecord, now: number, again: boolean): BudgetView {
  tally.moveTo(now);
  const { facts: budget, mode } = tally;
  const isClaimed = tally.isClaimed(record);
  const counted = record.up && (again || !isClaimed);
  const allowed = budget.status.disruptionsAllowed;
  if (mode.unit === 'Pod') {
    const desired = budget.status.desiredHealthy;
    return { budget, mode, live: tally.healthyPods, desired, allowed, counted, unit: undefined, unresolved: false };
  }
  const place = record.places?.get(tally.grouping);
  const unit = place?.unit;
  const spared = again && isClaimed ? record : undefined;
  const healthy = unit === undefined ? 0 : tally.healthyIn(unit, { spared });
  const comesUp = unit !== undefined && tally.down.has(unit) && healthy >= unit.minCount;
  const live = tally.availableUnits + (comesUp ? 1 : 0);
  const expected = tally.expectedUnits;
  const desired = computeDesired(budget, expected);
  return {
    budget,
    mode,
    live,
    desired,
    allowed: budget.status.claims === undefined ? allowed : ledgerAllowance(budget, live, desired, expected),
    counted,
    unit: unit && { key: unit.key, healthy, minCount: unit.minCount, ...othersOf(tally, unit, record) },
    unresolved: place?.resolution.kind === 'broken',
    published: budget.published,
  };
}

/** Who goes with a pod. Members of a unit that one pod less takes down follow anyway, and need no record. */
function othersOf(tally: DisruptionTally, unit: Unit, record: PodRecord): Pick<UnitView, 'others'> {
  if (!unit.whole || (unit.tree === undefined && unit.up - 1 < unit.minCount)) return {};
  const others = [...unit.members.keys()].filter((other) => other !== record && other.up && tally.matched.has(other));
  return { others: others.map(({ facts: { name, uid } }) => ({ name, uid })) };
}

/** What a ledger says may be old, and is never counted down: it follows from pods and grants. */
function ledgerAllowance({ status }: BudgetFacts, live: number, desired: number, expected: number): number {
  return status.disruptionAllowed?.reason === 'SyncFailed' ? 0 : computeAllowed(live, desired, expected);
}
