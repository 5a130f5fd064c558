import { expect, test } from 'vitest';
import type { BudgetOptions, PodOptions } from './fixtures.ts';
import { budget, groupUnits, pod } from './fixtures.ts';
import { formatRefusal } from './kubernetes-texts.ts';
import type { Mode } from './mode.ts';
import { type BudgetView, decideEviction } from './verdict.ts';

const inPods: Mode = { unit: 'Pod', reason: 'NoGroupedPods', fallback: false, settling: undefined, individual: 0 };

/** A budget in pods whose published numbers agree with what is seen. */
function view(options: BudgetOptions, more: Partial<BudgetView> = {}): BudgetView {
  const facts = budget(options);
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = facts.status;
  return {
    budget: facts,
    mode: inPods,
    live: Math.max(currentHealthy, desiredHealthy + disruptionsAllowed),
    desired: desiredHealthy,
    allowed: disruptionsAllowed,
    counted: true,
    unit: undefined,
    unresolved: false,
    ...more,
  };
}

const decide = (podOptions: PodOptions, budgetOptions: BudgetOptions, more: Partial<BudgetView> = {}) => {
  const facts = pod('p', podOptions);
  return decideEviction({ pod: facts, views: [view(budgetOptions, { counted: facts.ready, ...more })] });
};

const unready: PodOptions = { ready: false };
const always = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } };

const granted = [
  {
    name: 'T40 a Ready pod takes the last slot',
    given: decide({}, { status: [1, 1, 0, 1] }),
    want: 'WithinBudget',
    cost: 1,
  },
  {
    name: 'T41 a Ready pod takes one of three slots',
    given: decide({}, { status: [3, 3, 0, 3] }),
    want: 'WithinBudget',
    cost: 1,
  },
  { name: 'T43 an unready pod goes under AlwaysAllow', given: decide(unready, always), want: 'UnhealthyAlwaysAllowed' },
  { name: 'T44 a Pending pod is exempt', given: decide({ phase: 'Pending' }, {}), want: 'PodPending' },
  { name: 'T44 a Succeeded pod is exempt', given: decide({ phase: 'Succeeded' }, {}), want: 'PodFinished' },
  { name: 'T44 a Failed pod is exempt', given: decide({ phase: 'Failed' }, {}), want: 'PodFinished' },
  { name: 'T44 a terminating pod is exempt', given: decide({ terminating: true }, {}), want: 'PodTerminating' },
  { name: 'T45 no budget selects the pod', given: decideEviction({ pod: pod('p'), views: [] }), want: 'NoBudget' },
  {
    name: 'T49 an unready pod goes while the budget is met',
    given: decide(unready, { status: [0, 2, 2, 3] }),
    want: 'UnhealthyWithinBudget',
  },
  {
    name: 'T53 an unready pod may use up a slot',
    given: decide(unready, { status: [1, 0, 0, 3] }),
    want: 'WithinBudget',
    cost: 1,
  },
  {
    name: 'T56 AlwaysAllow does not wait for the controller',
    given: decide(unready, { ...always, generation: 2, observed: 1 }),
    want: 'UnhealthyAlwaysAllowed',
  },
  {
    name: 'T57 2000 unconfirmed evictions are still fine',
    given: decide({}, { status: [1, 1, 0, 1], disrupted: many(2000) }),
    want: 'WithinBudget',
    cost: 1,
  },
] as const;

for (const { name, given, want, ...rest } of granted) {
  test(`decideEviction() ${name}`, () => {
    expect(given).toMatchObject({ allowed: true, reason: want });
    expect(given.allowed && given.charge?.cost).toBe('cost' in rest ? rest.cost : undefined);
  });
}

const text = (tail: string): string => `The disruption budget foo ${tail}`;
const condition = (reason: string, message: string) => ({
  conditions: [{ type: 'DisruptionAllowed', status: 'False', reason, message }],
});

const refused = [
  {
    name: 'T4 neither bound set leaves nothing to give',
    given: decide({}, { status: [0, 3, 0, 0] }),
    code: 429,
    cause: text('does not allow evicting pods currently'),
  },
  {
    name: 'T37 a spec the controller has not seen',
    given: decide({}, { generation: 2, observed: 1 }),
    code: 429,
    cause: text('is still being processed by the server.'),
    retry: 10,
  },
  {
    name: 'T42 an unready pod where nothing is healthy',
    given: decide(unready, {}),
    code: 429,
    cause: text('needs 0 healthy pods and has 0 currently'),
  },
  {
    name: 'T48 no slot left',
    given: decide({}, { status: [0, 2, 2, 3] }),
    code: 429,
    cause: text('needs 2 healthy pods and has 2 currently'),
  },
  {
    name: 'T55 slots of an older spec do not count',
    given: decide({}, { status: [5, 5, 0, 5], generation: 2, observed: 1 }),
    code: 429,
    cause: text('is still being processed by the server.'),
    retry: 10,
  },
  {
    name: 'T57 2001 unconfirmed evictions are too many',
    given: decide({}, { status: [1, 1, 0, 1], disrupted: many(2001) }),
    code: 403,
    message:
      'poddisruptionbudget.policy "foo" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
  },
  {
    name: 'a negative allowance',
    given: decide({}, { status: [-1, 1, 0, 1] }),
    code: 403,
    message: 'poddisruptionbudget.policy "foo" is forbidden: pdb disruptions allowed is negative',
  },
  {
    name: 'T58 the sync failed',
    given: decide({}, condition('SyncFailed', 'x')),
    code: 429,
    cause: text('does not allow evicting pods currently because it failed sync: x'),
  },
  {
    name: 'T59 the condition gives the reason',
    given: decide({}, { status: [0, 4, 3, 4], ...condition('R', 'x') }),
    code: 429,
    cause: text('does not allow evicting pods currently (R): x'),
  },
  {
    name: 'an allowance that what is seen now has overtaken',
    given: decide({}, { status: [1, 3, 2, 3] }, { live: 2 }),
    code: 429,
    cause: text('needs 2 healthy pods and has 2 currently'),
  },
];

for (const { name, given, code, ...want } of refused) {
  test(`decideEviction() refuses: ${name}`, () => {
    if (given.allowed) throw new Error(`granted as ${given.reason}`);
    const answer = formatRefusal(given);
    expect(answer.code).toBe(code);
    if (want.message !== undefined) expect(answer.message).toBe(want.message);
    else expect(answer.message).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(answer.cause).toBe(want.cause);
    expect(answer.retryAfterSeconds).toBe(want.retry);
  });
}

test('decideEviction() T47 refuses a pod of two budgets whatever each allows', () => {
  const views = [view({ name: 'a', status: [5, 5, 0, 5] }), view({ name: 'b', status: [5, 5, 0, 5] })];
  const verdict = decideEviction({ pod: pod('p'), views });
  expect(verdict).toMatchObject({ allowed: false, reason: 'MultipleBudgets' });
  if (!verdict.allowed) {
    expect(formatRefusal(verdict)).toEqual({
      code: 500,
      reason: '',
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
});

test('decideEviction() pins the judged state of pods that go because of it', () => {
  const pins = [decide({ phase: 'Pending' }, {}), decide(unready, { status: [0, 2, 2, 3] }), decide(unready, always)];
  expect(pins.map((verdict) => verdict.allowed && verdict.pinned)).toEqual([true, true, true]);
  expect(decide({}, { status: [1, 1, 0, 1] })).toMatchObject({ pinned: false });
});

const groups = (published: NonNullable<BudgetOptions['status']>, podOptions: PodOptions = {}) => {
  const mode: Mode = { ...inPods, unit: 'PodGroup', reason: 'GroupUnits' };
  const unit = { key: 'g', healthy: 3, minCount: 3 };
  const budgetOptions: BudgetOptions = { status: [1, 2, 1, 2], conditions: [groupUnits] };
  return decide(podOptions, budgetOptions, { mode, unit, published: budget({ status: published }).status });
};

test('18.7: what groups allow still needs the count of pods that the API server goes by', () => {
  expect(groups([1, 6, 5, 6])).toMatchObject({ allowed: true });
  const refused = groups([0, 5, 5, 6]);
  expect(refused).toMatchObject({ allowed: false, reason: 'BuiltInCountTighter' });
  if (!refused.allowed) expect(formatRefusal(refused).cause).toBe(text('needs 5 healthy pods and has 5 currently'));
  // As the handler has it: an unready pod goes while the budget is met.
  expect(groups([0, 5, 5, 6], unready)).toMatchObject({ allowed: true });
  expect(groups([0, 4, 5, 6], unready)).toMatchObject({ allowed: false, reason: 'BuiltInCountTighter' });
});

function many(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`gone-${at}`, 0]));
}
