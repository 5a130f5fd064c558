import {
  type FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  parseTime,
  required,
  semanticEqual,
  tooMany,
} from '../../machinery/values/index.ts';
import type { EvictionStatus, ResponderStatus, TargetResponder } from '../generated/lifecycle-v1alpha1.ts';
import { duplicateNames, hasDuplicates } from './duplicates.ts';
import { validateKey } from './keys.ts';
import { inOrder } from './order.ts';
import {
  CLOCK_SKEW_MS,
  DEFAULT_RESPONDER,
  DEFAULT_RESPONDER_PRIORITY,
  FINAL_STATES,
  HEARTBEAT_DEADLINE_MS,
  LEAST_FREE_PRIORITY,
  MAX_PRIORITY,
  MAX_RESPONDERS,
  RESPONDER_STATES,
  type ResponderState,
} from './types.ts';

interface Rules {
  readonly path: FieldPath;
  readonly now: number;
  /** A condition says that it is over, now or before. */
  readonly isFinal: boolean;
}

/** Which states an entry may have now, and why no other. */
interface Expected {
  readonly states: readonly ResponderState[];
  readonly because: string;
}

/** What is wrong with `status.targetResponders`: whose turn it is, and what has become of the others. */
export function validateTargetResponders(status: EvictionStatus, old: EvictionStatus, rules: Rules): Issue[] {
  const { path } = rules;
  const list = status.targetResponders ?? [];
  const before = old.targetResponders ?? [];
  const issues = validateEntries(list, before, path);
  if (before.length > 0) {
    const names = new Set(list.map(({ name }) => name));
    if (list.length !== before.length) {
      return [...issues, invalid(path, list, 'must preserve the same length and the same keys')];
    }
    if (!before.every(({ name }) => names.has(name))) {
      return [...issues, invalid(path, list, 'must preserve the same keys')];
    }
  }
  if (list.length > MAX_RESPONDERS || hasDuplicates(list)) return issues;
  const statuses = new Map((status.responders ?? []).map((one) => [one.name, one]));
  const sorted = inOrder(list);
  const expected = expectedStates(sorted, inOrder(before), rules.isFinal);
  for (const [at, responder] of sorted.entries()) {
    const here = path.index(list.indexOf(responder));
    issues.push(
      ...validateTurn(responder, statuses.get(responder.name), { ...rules, path: here }, expected[at] as Expected),
    );
  }
  return issues;
}

/** What can be said of each entry by itself. */
function validateEntries(list: readonly TargetResponder[], old: readonly TargetResponder[], path: FieldPath): Issue[] {
  if (semanticEqual(list, old)) return [];
  if (list.length > MAX_RESPONDERS) return [tooMany(path, list.length, MAX_RESPONDERS)];
  const issues = duplicateNames(path, list);
  for (const [at, { name, priority, state }] of list.entries()) {
    const was = old.find((one) => one.name === name);
    const here = path.index(at);
    if (was === undefined) issues.push(...validateKey(here.child('name'), name));
    if (priority !== was?.priority || was === undefined) {
      issues.push(...validatePriority(here.child('priority'), priority, was));
    }
    if (state === was?.state) continue;
    if (!state) issues.push(required(here.child('state')));
    else if (!(RESPONDER_STATES as readonly string[]).includes(state)) {
      issues.push(notSupported(here.child('state'), state, RESPONDER_STATES));
    }
  }
  return issues;
}

function validatePriority(path: FieldPath, priority: number | undefined, was: TargetResponder | undefined): Issue[] {
  if (priority === undefined) return [required(path)];
  if (was?.priority !== undefined) return [invalid(path, priority, 'field cannot be modified once set')];
  if (priority < 0) return [invalid(path, priority, 'must be greater than or equal to 0')];
  return priority > MAX_PRIORITY ? [invalid(path, priority, `must be less than or equal to ${MAX_PRIORITY}`)] : [];
}

/**
 * The states that the entries may have, in their order. First match wins:
 *  1. its turn was before the active one's, or all have had theirs: as it was
 *  2. it was active and is no more: any final state
 *  3. it was active: still so; any final state once all is over
 *  4. it is the next, or the first at the beginning: active; not once all is over
 *  5. not its turn yet
 */
function expectedStates(
  sorted: readonly TargetResponder[],
  old: readonly TargetResponder[],
  isFinal: boolean,
): Expected[] {
  const active = old.findIndex(({ state }) => state === 'Active');
  const hasLeft = active !== -1 && sorted[active]?.state !== 'Active';
  const isOver = isFinal || isFinalState(old.at(-1)?.state);
  return sorted.map((_, at): Expected => {
    if (at < active || (old.length > 0 && active === -1 && isOver)) {
      return { states: [old[at]?.state as ResponderState], because: 'final state is immutable' };
    }
    if (at === active && hasLeft) {
      return { states: FINAL_STATES, because: 'this responder must reach a final state' };
    }
    if (at === active) {
      return isFinal
        ? { states: FINAL_STATES, because: 'the eviction request has finished processing' }
        : { states: ['Active'], because: 'the eviction request stays active' };
    }
    if ((at === 0 && old.length === 0) || (at === active + 1 && hasLeft)) {
      return isFinal
        ? { states: ['Inactive'], because: 'the eviction request has finished processing' }
        : { states: ['Active'], because: 'this responder is next in line' };
    }
    return { states: ['Inactive'], because: 'the previously active has not finished processing' };
  });
}

const isFinalState = (state: string | undefined): boolean => FINAL_STATES.includes(state as ResponderState);

function validateTurn(
  { name, priority, state }: TargetResponder,
  status: ResponderStatus | undefined,
  { isFinal, now, path }: Rules,
  { because, states }: Expected,
): Issue[] {
  if (status === undefined) return [invalid(path, name, `"${name}" has to be tracked in status.responders first`)];
  const issues = validateReserved(path.child('priority'), name, priority);
  const at = path.child('state');
  if (!states.includes(state as ResponderState)) {
    return [...issues, invalid(at, state, `must be one of: ${states.join(', ')}, because ${because}`)];
  }
  const { completionTime, heartbeatTime, startTime } = status;
  const lastSign = parseTime(heartbeatTime ?? startTime);
  const mayBeAlive =
    startTime !== undefined && lastSign !== undefined && now < lastSign + HEARTBEAT_DEADLINE_MS - CLOCK_SKEW_MS;
  if (state !== 'Active' && mayBeAlive && completionTime === undefined && !isFinal) {
    const text =
      'must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime';
    issues.push(forbidden(at, text));
  }
  if (state === 'Completed' && completionTime === undefined) {
    const text = "cannot become Completed because the responder didn't report status.responders.completionTime";
    issues.push(invalid(at, state, text));
  }
  return issues;
}

function validateReserved(path: FieldPath, name: string, priority: number | undefined): Issue[] {
  if (priority === undefined || priority < 0) return [];
  if (name === DEFAULT_RESPONDER) {
    if (priority === DEFAULT_RESPONDER_PRIORITY) return [];
    const text = `core k8s responder is expected to have priority: ${DEFAULT_RESPONDER_PRIORITY}`;
    return [invalid(path, priority, text)];
  }
  if (priority >= LEAST_FREE_PRIORITY) return [];
  return [invalid(path, priority, 'priorities 0-999 are reserved for responders with *.k8s.io suffix')];
}
