import type { ProtectedOperation } from '../../api/kruise/types.ts';
import type { LeftoverReason } from './leftovers.ts';
import { MAX_ENTRIES } from './ledger.ts';
import type { BoundField } from './numbers.ts';
import type { FoundRoom } from '../disruption/room.ts';

/** What is known of the pod that would be disturbed. */
export interface DisturbedPod {
  readonly name: string;
  readonly unprotected: boolean;
  readonly ready: boolean;
  readonly consistent: boolean;
  readonly ignored: boolean;
  /** Already in one of the budget's ledger maps, for this very pod. */
  readonly recorded: boolean;
}

/** What the budget says of itself. */
export interface UnavailabilityFacts {
  readonly name: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly protects: boolean;
  readonly desired: number;
  readonly allowed: number;
  readonly entries: number;
}

/** What the budget counts for this pod: single pods, its group, or pods outside any group. */
export type Scope =
  | { readonly kind: 'Pods' }
  | {
      readonly kind: 'Ungrouped';
      readonly available: number;
      readonly desired: number;
      readonly constraint: BoundField;
    }
  | {
      readonly kind: 'Group';
      readonly identity: string;
      readonly ready: number;
      readonly needed: number;
      readonly availableGroups: number;
      readonly desired: number;
      readonly expected: number;
      readonly constraint: BoundField;
      /** At most five names of groups that are short right now; asked only for a refusal. */
      readonly unavailableNow: () => readonly string[];
    };

export interface UnavailabilityQuestion {
  readonly operation: ProtectedOperation;
  readonly pod: DisturbedPod;
  readonly budget: UnavailabilityFacts;
  readonly scope: Scope;
  /** OpenKruise's own order and quirks. */
  readonly compat?: boolean | undefined;
}

export type AllowReason =
  | LeftoverReason
  | 'Unprotected'
  | 'NotServing'
  | 'Ignored'
  | 'NothingDesired'
  | 'OperationNotProtected'
  | 'AlreadyRecorded'
  | 'WithinBudget'
  | 'GroupAlreadyUnavailable'
  | 'GroupHasSurplus';

export type RefuseReason = 'StatusStale' | 'BudgetExhausted' | 'LedgerFull' | 'NoRoom' | 'CannotTell';

export type UnavailabilityVerdict =
  | {
      readonly allowed: true;
      readonly reason: AllowReason;
      /** Write the pod into the ledger. */
      readonly record: boolean;
      /** The counter after the request; undefined when it stays. */
      readonly unavailableAllowed?: number;
      /** A failed write of the record does not turn the answer into a refusal. */
      readonly bestEffort?: true;
      /** Places for all of what goes down, where the budget asks for them. */
      readonly room?: FoundRoom;
    }
  | {
      readonly allowed: false;
      readonly reason: RefuseReason;
      readonly message: string;
      readonly constraint?: BoundField;
      /** Why not all of what would go down finds places. */
      readonly room?: string;
      readonly retryAfterSeconds?: number;
    };

const free = (reason: AllowReason): UnavailabilityVerdict => ({ allowed: true, reason, record: false });

/**
 * Decides whether one request may disturb one pod under one budget. First match wins:
 *  1. the pod opted out: allow
 *  2. the pod serves nothing (not ready, or mid-update): allow
 *  3. the budget ignores the pod: allow
 *  4. the operation is not protected: allow
 *  5. the numbers are older than the spec: refuse, worth another try
 *  6. nothing is desired: allow
 *  7. the pod is on the ledger already: allow, charged before
 *  8. the scope's own test (pods, ungrouped ledger, group)
 * In compatibility mode rule 6 comes before 4 and rule 5 is left out, as OpenKruise has it.
 */
export function decideUnavailability(question: UnavailabilityQuestion): UnavailabilityVerdict {
  const { pod, budget, scope, compat = false } = question;
  const desired = scope.kind === 'Group' ? scope.desired : budget.desired;
  if (pod.unprotected) return free('Unprotected');
  if (!pod.ready || !pod.consistent) return free('NotServing');
  if (pod.ignored) return free('Ignored');
  if (compat && desired === 0 && scope.kind !== 'Ungrouped') return free('NothingDesired');
  if (!budget.protects) return free('OperationNotProtected');
  if (!compat && budget.observedGeneration < budget.generation) {
    return refuse(budget, 'StatusStale', 'the budget is still being processed, its numbers are older than its spec');
  }
  if (desired === 0 && scope.kind !== 'Ungrouped') return free('NothingDesired');
  if (pod.recorded) return free('AlreadyRecorded');
  switch (scope.kind) {
    case 'Pods':
      return decideByPods(budget);
    case 'Ungrouped':
      return decideUngrouped(question, scope);
    case 'Group':
      return decideByGroup(question, scope);
  }
}

const LEDGER_FULL_TEXT =
  'DisruptedPods and UnavailablePods map too big - too many unavailable not confirmed by PUB controller';

function decideByPods(budget: UnavailabilityFacts): UnavailabilityVerdict {
  if (budget.allowed <= 0) return refuse(budget, 'BudgetExhausted', 'pub unavailable allowed is negative');
  if (budget.entries > MAX_ENTRIES) return refuse(budget, 'LedgerFull', LEDGER_FULL_TEXT);
  return { allowed: true, reason: 'WithinBudget', record: true, unavailableAllowed: budget.allowed - 1 };
}

function decideUngrouped(
  { budget, operation, pod }: UnavailabilityQuestion,
  { available, desired, constraint }: Extract<Scope, { kind: 'Ungrouped' }>,
): UnavailabilityVerdict {
  if (available - 1 < desired) {
    const text = `${operation} of pod ${pod.name} would leave ${available - 1} ungrouped pods available, required ${desired}; constraint ${constraint}`;
    return { ...refuse(budget, 'BudgetExhausted', text), constraint };
  }
  if (budget.entries > MAX_ENTRIES) return refuse(budget, 'LedgerFull', LEDGER_FULL_TEXT);
  return { allowed: true, reason: 'WithinBudget', record: true };
}

/**
 *  a. the group is short already: allow, and record if it can be
 *  b. the group keeps what it needs without the pod: allow and record
 *  c. the group falls short, and enough others stay: allow, record, charge one group
 *  d. otherwise refuse
 */
function decideByGroup(
  { budget, operation, pod }: UnavailabilityQuestion,
  scope: Extract<Scope, { kind: 'Group' }>,
): UnavailabilityVerdict {
  const { ready, needed, availableGroups, desired, constraint } = scope;
  const full = budget.entries > MAX_ENTRIES;
  if (ready < needed) return { allowed: true, reason: 'GroupAlreadyUnavailable', record: !full, bestEffort: true };
  if (full) return refuse(budget, 'LedgerFull', LEDGER_FULL_TEXT);
  if (ready - 1 >= needed) return { allowed: true, reason: 'GroupHasSurplus', record: true };
  if (availableGroups - 1 >= desired) {
    const unavailableAllowed = Math.max(0, availableGroups - 1 - desired);
    return { allowed: true, reason: 'WithinBudget', record: true, unavailableAllowed };
  }
  const short = scope.unavailableNow().slice(0, 5);
  const text =
    `${operation} of pod ${pod.name} would make group ${scope.identity} unavailable (ready ${ready}->${ready - 1}, needs ${needed}); ` +
    `available groups ${availableGroups}, required ${desired}, expected ${scope.expected}; constraint ${constraint}; ` +
    `unavailable now: ${short.length > 0 ? short.join(', ') : 'none'}`;
  return { ...refuse(budget, 'BudgetExhausted', text), constraint };
}

function refuse(
  { name }: UnavailabilityFacts,
  reason: RefuseReason,
  text: string,
): Extract<UnavailabilityVerdict, { allowed: false }> {
  return {
    allowed: false,
    reason,
    message: `podunavailablebudget.policy.kruise.io ${JSON.stringify(name)} is forbidden: ${text}`,
  };
}
