import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BudgetOperation, ObjectOperation } from './history.ts';
import { linearize, type Model, type Timed } from './linearize.ts';
import { budgetModel, objectModel } from './models.ts';

type Step = Pick<ObjectOperation, 'kind'> & Partial<ObjectOperation> & { called: number };

const operations = (steps: readonly Step[]): ObjectOperation[] =>
  steps.map((step, at) => {
    const defaults = { client: `c${at}`, collection: 'configmaps', name: 'a' } as const;
    return { ...defaults, answered: step.answer === undefined ? undefined : step.called + 1, ...step };
  });
const judged = (steps: readonly Step[]) => linearize(objectModel, operations(steps)).is;

const wrote = (value: string, revision: number) => ({ answer: { is: 'done', value, revision } }) as const;
const done = { answer: { is: 'done' } } as const;
const absent = { answer: { is: 'absent' } } as const;
const create: Step = { kind: 'create', called: 1, value: 'v1', ...wrote('v1', 1) };

const sound: Record<string, Step[]> = {
  'one after another': [
    create,
    { kind: 'put', called: 3, value: 'v2', ...wrote('v2', 2) },
    { kind: 'get', called: 5, ...wrote('v2', 2) },
    { kind: 'delete', called: 7, ...done },
    { kind: 'get', called: 9, ...absent },
  ],
  'a read during a write sees the old state or the new one': [
    create,
    { kind: 'put', called: 3, answered: 20, value: 'v2', ...wrote('v2', 2) },
    { kind: 'get', called: 5, ...wrote('v1', 1) },
    { kind: 'get', called: 7, ...wrote('v2', 2) },
  ],
  'a write without an answer happened': [
    create,
    { kind: 'put', called: 3, value: 'v2' },
    { kind: 'get', called: 5, ...wrote('v2', 4) },
  ],
  'a write without an answer happened much later, or never': [
    create,
    { kind: 'put', called: 3, value: 'v2' },
    { kind: 'get', called: 5, ...wrote('v1', 1) },
    { kind: 'get', called: 7, ...wrote('v2', 4) },
    { kind: 'put', called: 9, value: 'v3' },
  ],
  'of two creates at once one is told that there is another': [
    { ...create, answered: 9 },
    { kind: 'create', called: 2, value: 'v2', answered: 8, answer: { is: 'exists' } },
  ],
  'a patch that tests the value is refused where it is another': [
    create,
    { kind: 'swap', called: 3, value: 'v2', expected: 'v0', answer: { is: 'mismatch' } },
    { kind: 'swap', called: 5, value: 'v3', expected: 'v1', ...wrote('v3', 2) },
  ],
};

for (const [what, steps] of Object.entries(sound)) {
  test(`linearizable: ${what}`, () => expect(judged(steps)).toBe('linearizable'));
}

const planted: Record<string, Step[]> = {
  'a lost write': [
    create,
    { kind: 'put', called: 3, value: 'v2', ...wrote('v2', 2) },
    { kind: 'get', called: 5, ...wrote('v1', 1) },
  ],
  'a stale read': [
    create,
    { kind: 'put', called: 3, answered: 20, value: 'v2', ...wrote('v2', 2) },
    { kind: 'get', called: 5, ...wrote('v2', 2) },
    { kind: 'get', called: 7, ...wrote('v1', 1) },
  ],
  'an append that was carried out twice': [
    create,
    { kind: 'append', called: 3, value: 'v2' },
    { kind: 'get', called: 5, ...wrote('v1,v2,v2', 3) },
  ],
  'two appends in another order than that of their answers': [
    create,
    { kind: 'append', called: 3, value: 'v2', ...wrote('v1,v2', 2) },
    { kind: 'append', called: 5, value: 'v3', ...wrote('v1,v2,v3', 3) },
    { kind: 'get', called: 7, ...wrote('v1,v3,v2', 3) },
  ],
  'revisions that go back': [create, { kind: 'put', called: 3, value: 'v2', ...wrote('v2', 1) }],
  'an object that comes back': [
    create,
    { kind: 'delete', called: 3, ...done },
    { kind: 'get', called: 5, ...wrote('v1', 1) },
  ],
  'a refusal because of what is not so': [create, { kind: 'put', called: 3, value: 'v2', ...absent }],
  'a refusal because of what is not so yet, told before it is seen': [
    create,
    { kind: 'delete', called: 3, answered: 20, ...done },
    { kind: 'put', called: 5, value: 'v2', ...absent },
    { kind: 'get', called: 7, ...wrote('v1', 1) },
  ],
  'a write at a revision that has passed': [
    create,
    { kind: 'put', called: 3, value: 'v2', ...wrote('v2', 2) },
    { kind: 'put', called: 5, value: 'v3', revision: 1, ...wrote('v3', 3) },
  ],
  'a refused write that happened': [
    create,
    { kind: 'put', called: 3, value: 'v2', revision: 9, answer: { is: 'conflict' } },
    { kind: 'get', called: 5, ...wrote('v2', 2) },
  ],
  'a conflict of a write that asked for no revision': [
    create,
    { kind: 'put', called: 3, value: 'v2', answer: { is: 'conflict' } },
  ],
  'a value that nobody wrote': [create, { kind: 'get', called: 3, ...wrote('v9', 1) }],
};

for (const [what, steps] of Object.entries(planted)) {
  test(`found: ${what}`, () => expect(judged(steps)).toBe('broken'));
}

test('the first answer that nothing explains is named, with the states that were possible', () => {
  const found = linearize(objectModel, operations(planted['a lost write'] as Step[]));
  expect(found).toMatchObject({ is: 'broken', at: { kind: 'get', called: 5 }, worlds: ['v2 at 2'] });
});

const spent = (steps: readonly (Pick<BudgetOperation, 'kind' | 'called'> & Partial<BudgetOperation>)[]) =>
  linearize(
    budgetModel,
    steps.map((step) => ({ client: 'c', answered: step.answer && step.called + 1, ...step })),
  ).is;
const set = { kind: 'set', called: 1, allowed: 1, answer: { is: 'done', revision: 1 } } as const;
const evict = (called: number, is?: 'done' | 'full') => ({ kind: 'evict', called, answer: is && { is } }) as const;

test('a budget lets pass what it allows, and one without an answer may have been the one', () => {
  expect(spent([set, evict(3, 'done'), evict(5, 'full')])).toBe('linearizable');
  expect(spent([set, evict(3), evict(5, 'full')])).toBe('linearizable');
  expect(spent([set, evict(3), evict(5, 'done')])).toBe('linearizable');
});

test('found: a budget that lets pass more than it allows, or loses a charge, or refuses without need', () => {
  expect(spent([set, evict(3, 'done'), evict(5, 'done')])).toBe('broken');
  const full = { kind: 'get', called: 5, answer: { is: 'done', allowed: 1, revision: 1 } } as const;
  expect(spent([set, evict(3, 'done'), full])).toBe('broken');
  expect(spent([set, evict(3, 'full')])).toBe('broken');
});

/** A register that is written and read: small enough to try every order. */
interface Access extends Timed {
  readonly write?: number;
  readonly read?: number;
}
const register: Model<number, Access> = {
  initial: 0,
  textOf: String,
  step: (state, { read, write }) => (write !== undefined ? write : read === state ? state : undefined),
};

function tryEveryOrder(open: readonly Access[], state: number): boolean {
  const answered = open.filter((one) => one.answered !== undefined);
  if (answered.length === 0) return true;
  const first = Math.min(...answered.map((one) => one.answered as number));
  return open.some((one) => {
    const next = one.called < first ? register.step(state, one) : undefined;
    return (
      next !== undefined &&
      tryEveryOrder(
        open.filter((other) => other !== one),
        next,
      )
    );
  });
}

test('linearize() says what trying every order says', () => {
  const access = fc.record({
    called: fc.nat(12),
    lasts: fc.option(fc.nat(6), { nil: undefined }),
    writes: fc.boolean(),
    value: fc.nat(2),
  });
  const verdicts = new Set<boolean>();
  fc.assert(
    fc.property(fc.array(access, { maxLength: 7 }), (drawn) => {
      const history = drawn.map(({ called, lasts, value, writes }, at): Access => {
        // No two things happen at the same moment.
        const begun = called * 100 + at;
        const answered = lasts === undefined ? undefined : (called + lasts) * 100 + 50 + at;
        return { called: begun, answered, ...(writes ? { write: value } : { read: value }) };
      });
      const expected = tryEveryOrder(history, 0);
      verdicts.add(expected);
      expect(linearize(register, history).is).toBe(expected ? 'linearizable' : 'broken');
    }),
    { numRuns: 1000 },
  );
  expect(verdicts.size).toBe(2);
});
