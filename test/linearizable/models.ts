/** What an object and a budget may do, one operation after another. */
import type { BudgetOperation, ObjectOperation } from './history.ts';
import type { Model } from './linearize.ts';

interface Versioned {
  /** Undefined where the write that made the state had no answer: a read may tell. */
  readonly revision: number | undefined;
  /** The newest revision that is known: the next one is above it. */
  readonly floor: number;
}

interface ObjectState extends Versioned {
  /** Undefined while there is no such object. */
  readonly value: string | undefined;
}

/** The state with its revision told, or undefined where it cannot have that one. */
function told<S extends Versioned>(state: S, revision: number | undefined): S | undefined {
  if (revision === undefined || state.revision === revision) return state;
  if (state.revision !== undefined || revision <= state.floor) return undefined;
  return { ...state, revision, floor: revision };
}

/** Whether a write that is asked for at `revision` alone may be refused: one that is asked for at any may not. */
const isOther = (state: Versioned, revision: number | undefined): boolean =>
  revision !== undefined && state.revision !== revision;

export const objectModel: Model<ObjectState, ObjectOperation> = {
  initial: { value: undefined, revision: undefined, floor: 0 },
  textOf: ({ floor, revision, value }) => `${value ?? 'absent'} at ${revision ?? `above ${floor}`}`,
  step(state, operation) {
    const { answer, kind } = operation;
    if (answer?.is === 'absent') return state.value === undefined ? state : undefined;
    if (kind === 'create') {
      if (answer?.is === 'exists') return state.value === undefined ? undefined : state;
      return state.value === undefined ? written(state, operation, operation.value ?? '') : undefined;
    }
    if (state.value === undefined) return undefined;
    if (answer?.is === 'conflict') return isOther(state, operation.revision) ? state : undefined;
    if (answer?.is === 'mismatch') return state.value === operation.expected ? undefined : state;
    // Refused by the budget, whose history is another one.
    if (answer?.is === 'full') return state;
    const asked = told(state, operation.revision);
    return asked && changed(asked, operation);
  },
};

function changed(state: ObjectState, operation: ObjectOperation): ObjectState | undefined {
  const { answer, expected, kind, value = '' } = operation;
  if (kind === 'get') {
    if (answer?.is !== 'done' || answer.value !== state.value) return undefined;
    return told(state, answer.revision);
  }
  if (kind === 'delete' || kind === 'evict') return { ...state, value: undefined, revision: undefined };
  if (kind === 'swap' && state.value !== expected) return undefined;
  return written(state, operation, kind === 'append' ? `${state.value},${value}` : value);
}

function written(state: ObjectState, { answer }: ObjectOperation, value: string): ObjectState | undefined {
  const next = { value, revision: undefined, floor: Math.max(state.floor, state.revision ?? 0) };
  if (answer?.is !== 'done') return next;
  return answer.value === value ? told(next, answer.revision) : undefined;
}

interface BudgetState extends Versioned {
  /** Undefined until it was set for the first time. */
  readonly allowed: number | undefined;
}

export const budgetModel: Model<BudgetState, BudgetOperation> = {
  initial: { allowed: undefined, revision: undefined, floor: 0 },
  textOf: ({ allowed, floor, revision }) => `${allowed ?? 'not set'} at ${revision ?? `above ${floor}`}`,
  step(state, { allowed, answer, kind, revision }) {
    const { floor } = state;
    if (kind === 'evict') {
      if (answer?.is === 'full') return state.allowed === 0 ? state : undefined;
      if (state.allowed === undefined || state.allowed === 0) return undefined;
      return { allowed: state.allowed - 1, revision: undefined, floor: Math.max(floor, state.revision ?? 0) };
    }
    if (kind === 'get') {
      if (answer?.is !== 'done' || answer.allowed !== state.allowed) return undefined;
      return told(state, answer.revision);
    }
    if (answer?.is === 'conflict') return isOther(state, revision) ? state : undefined;
    const asked = told(state, revision);
    if (asked === undefined) return undefined;
    const next = { allowed, revision: undefined, floor: Math.max(asked.floor, asked.revision ?? 0) };
    return answer?.is === 'done' ? told(next, answer.revision) : next;
  },
};
