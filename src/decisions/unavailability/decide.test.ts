import { expect, test } from 'vitest';
import { decideUnavailability, type Scope, type UnavailabilityQuestion } from './decide.ts';

interface Change {
  operation?: UnavailabilityQuestion['operation'];
  pod?: Partial<UnavailabilityQuestion['pod']>;
  budget?: Partial<UnavailabilityQuestion['budget']>;
  scope?: Scope;
  compat?: boolean;
}

const ask = ({
  operation = 'EVICT',
  pod,
  budget,
  scope = { kind: 'Pods' },
  compat,
}: Change): UnavailabilityQuestion => ({
  operation,
  pod: { name: 'p', unprotected: false, ready: true, consistent: true, ignored: false, recorded: false, ...pod },
  budget: {
    name: 'pub',
    generation: 1,
    observedGeneration: 1,
    protects: true,
    desired: 1,
    allowed: 1,
    entries: 0,
    ...budget,
  },
  scope,
  compat,
});

/** The shard fleet of the worked examples: three groups of three, one may be down. */
const group = (change: Partial<Extract<Scope, { kind: 'Group' }>> = {}): Scope => ({
  kind: 'Group',
  identity: 'llm/0',
  ready: 3,
  needed: 3,
  availableGroups: 3,
  desired: 2,
  expected: 3,
  constraint: 'maxUnavailable',
  unavailableNow: () => [],
  ...change,
});

const cases: [name: string, question: Change, want: string][] = [
  ['W1 charges one when one is allowed', {}, 'WithinBudget'],
  ['W2 refuses when none is allowed', { budget: { allowed: 0 } }, 'BudgetExhausted'],
  ['W3 refuses a delete when none is allowed', { operation: 'DELETE', budget: { allowed: 0 } }, 'BudgetExhausted'],
  ['W6 lets a pod go that is not ready', { pod: { ready: false }, budget: { allowed: 0 } }, 'NotServing'],
  ['W6 lets a pod go that is mid-update', { pod: { consistent: false }, budget: { allowed: 0 } }, 'NotServing'],
  ['W7 lets an unprotected pod go', { pod: { unprotected: true }, budget: { allowed: 0 } }, 'Unprotected'],
  ['W8 lets an ignored pod go', { pod: { ignored: true }, budget: { allowed: 0 } }, 'Ignored'],
  ['W9 lets an unguarded operation pass', { budget: { protects: false, allowed: 0 } }, 'OperationNotProtected'],
  ['W10 does not charge twice', { pod: { recorded: true }, budget: { allowed: 0 } }, 'AlreadyRecorded'],
  ['W18 refuses with 2001 entries', { budget: { allowed: 5, entries: 2001 } }, 'LedgerFull'],
  ['W18 allows with 2000 entries', { budget: { allowed: 5, entries: 2000 } }, 'WithinBudget'],
  ['W21 allows when nothing is desired', { budget: { desired: 0, allowed: 0 } }, 'NothingDesired'],
  ['W22 refuses while the numbers are stale', { budget: { generation: 2, allowed: 5 } }, 'StatusStale'],
  ['W22 in compat mode uses the old numbers', { compat: true, budget: { generation: 2, allowed: 5 } }, 'WithinBudget'],
  [
    'stale numbers of an unguarded operation do not matter',
    { budget: { generation: 2, protects: false } },
    'OperationNotProtected',
  ],
  ['H1 takes the first group down', { scope: group() }, 'WithinBudget'],
  [
    'H2 finishes a group that is short already',
    { scope: group({ ready: 2, availableGroups: 2 }) },
    'GroupAlreadyUnavailable',
  ],
  [
    'H4 refuses the next group',
    { scope: group({ identity: 'llm/1', availableGroups: 2, unavailableNow: () => ['llm/0'] }) },
    'BudgetExhausted',
  ],
  ['H5 spends surplus without a charge', { scope: group({ needed: 2 }) }, 'GroupHasSurplus'],
  ['H5 charges once the surplus is gone', { scope: group({ needed: 2, ready: 2 }) }, 'WithinBudget'],
  ['H7 counts a group that has no pods', { scope: group({ availableGroups: 2 }) }, 'BudgetExhausted'],
  [
    'H8 lets a worker go that is not ready',
    { pod: { ready: false }, scope: group({ availableGroups: 2 }) },
    'NotServing',
  ],
  [
    'H17 allows an unavailable group unrecorded when the ledger is full',
    { budget: { entries: 2001 }, scope: group({ ready: 1 }) },
    'GroupAlreadyUnavailable',
  ],
  [
    'H17 refuses an available group when the ledger is full',
    { budget: { entries: 2001 }, scope: group() },
    'LedgerFull',
  ],
  ['H19 allows when no group is expected', { scope: group({ desired: 0, expected: 0 }) }, 'NothingDesired'],
  [
    'H13 allows the first of two ungrouped pods',
    { scope: { kind: 'Ungrouped', available: 2, desired: 1, constraint: 'maxUnavailable' } },
    'WithinBudget',
  ],
  [
    'H13 refuses the second',
    { scope: { kind: 'Ungrouped', available: 1, desired: 1, constraint: 'maxUnavailable' } },
    'BudgetExhausted',
  ],
];

for (const [name, question, want] of cases) {
  test(`decideUnavailability() ${name}`, () => expect(decideUnavailability(ask(question)).reason).toBe(want));
}

test('decideUnavailability() charges a group, not a pod', () => {
  expect(decideUnavailability(ask({ scope: group() }))).toMatchObject({ record: true, unavailableAllowed: 0 });
  expect(decideUnavailability(ask({ scope: group({ ready: 2 }) }))).toEqual({
    allowed: true,
    reason: 'GroupAlreadyUnavailable',
    record: true,
    bestEffort: true,
  });
  expect(decideUnavailability(ask({ scope: group({ needed: 2 }) }))).toEqual({
    allowed: true,
    reason: 'GroupHasSurplus',
    record: true,
  });
});

test('H4 the refusal names the group, the numbers, the constraint and what is down now', () => {
  const verdict = decideUnavailability(
    ask({
      pod: { name: 'llm-1' },
      scope: group({ identity: 'llm/1', availableGroups: 2, unavailableNow: () => ['llm/0'] }),
    }),
  );
  expect(verdict).toEqual({
    allowed: false,
    reason: 'BudgetExhausted',
    constraint: 'maxUnavailable',
    message:
      'podunavailablebudget.policy.kruise.io "pub" is forbidden: EVICT of pod llm-1 would make group llm/1 unavailable (ready 3->2, needs 3); available groups 2, required 2, expected 3; constraint maxUnavailable; unavailable now: llm/0',
  });
});
