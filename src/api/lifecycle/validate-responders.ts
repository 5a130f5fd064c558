import {
  type FieldPath,
  invalid,
  type Issue,
  parseTime,
  required,
  semanticEqual,
  tooLong,
  tooMany,
} from '../../machinery/values/index.ts';
import type { EvictionStatus, ResponderStatus } from '../generated/lifecycle-v1alpha1.ts';
import { duplicateNames, hasDuplicates } from './duplicates.ts';
import { validateKey } from './keys.ts';
import { CLOCK_SKEW_MS, MAX_RESPONDERS } from './types.ts';

const MAX_MESSAGE = 4000;
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;

interface Rules {
  readonly path: FieldPath;
  readonly now: number;
}

/** What is wrong with `status.responders`: what each responder says of itself while it is its turn. */
export function validateResponders(status: EvictionStatus, old: EvictionStatus, { now, path }: Rules): Issue[] {
  const list = status.responders ?? [];
  const before = new Map((old.responders ?? []).map((one) => [one.name, one]));
  const targets = status.targetResponders ?? [];
  const issues = semanticEqual(list, old.responders ?? []) ? [] : validateEntries(list, before, path);
  if (targets.length !== list.length) {
    const text = 'must be the same length as status.targetResponders and contain the same keys';
    return [...issues, invalid(path, list, text)];
  }
  const names = new Set(list.map(({ name }) => name));
  if (!targets.every(({ name }) => names.has(name))) {
    return [...issues, invalid(path, list, 'must contain the same keys as status.targetResponders')];
  }
  if (list.length > MAX_RESPONDERS || hasDuplicates(list)) return issues;
  for (const [at, responder] of list.entries()) {
    const isActive = targets.find(({ name }) => name === responder.name)?.state === 'Active';
    issues.push(...validateReport(responder, before.get(responder.name), { path: path.index(at), now, isActive }));
  }
  return issues;
}

/** What can be said of each entry by itself. */
function validateEntries(
  list: readonly ResponderStatus[],
  before: ReadonlyMap<string, ResponderStatus>,
  path: FieldPath,
): Issue[] {
  if (list.length > MAX_RESPONDERS) return [tooMany(path, list.length, MAX_RESPONDERS)];
  const issues = duplicateNames(path, list);
  for (const [at, one] of list.entries()) {
    const was = before.get(one.name);
    const here = path.index(at);
    if (was === undefined) issues.push(...validateKey(here.child('name'), one.name));
    for (const field of ['startTime', 'completionTime'] as const) {
      if (was?.[field] === undefined || isSameTime(was[field], one[field])) continue;
      const done = one[field] === undefined ? 'cleared' : 'modified';
      issues.push(invalid(here.child(field), null, `field cannot be ${done} once set`));
    }
    if (one.message !== was?.message && Array.from(one.message ?? '').length > MAX_MESSAGE) {
      issues.push(tooLong(here.child('message'), MAX_MESSAGE, 'characters'));
    }
  }
  return issues;
}

interface ReportRules extends Rules {
  readonly isActive: boolean;
}

function validateReport(
  report: ResponderStatus,
  old: ResponderStatus | undefined,
  { isActive, now, path }: ReportRules,
): Issue[] {
  if (old !== undefined && !isActive && !semanticEqual(report, old))
    return [invalid(path, report, 'field is immutable')];
  const was: Partial<ResponderStatus> = old ?? {};
  const issues: Issue[] = [];
  const started = parseTime(report.startTime);
  const isNear = (time: number): boolean => Math.abs(time - now) < CLOCK_SKEW_MS;
  const startPath = path.child('startTime');
  if (was.startTime === undefined) {
    if (started === undefined && isActive) issues.push(required(startPath, 'is required for an active responder'));
    if (started !== undefined && !isNear(started)) issues.push(notPresent(startPath, report.startTime));
  }
  if (was.heartbeatTime !== undefined && report.heartbeatTime === undefined) {
    issues.push(required(path.child('heartbeatTime'), 'is required once set'));
  }
  for (const field of ['heartbeatTime', 'expectedCompletionTime', 'completionTime'] as const) {
    const time = parseTime(report[field]);
    const before = parseTime(was[field]);
    if (time === undefined || (field === 'completionTime' && before !== undefined && before !== time)) continue;
    if (before === time && field !== 'completionTime') continue;
    const here = path.child(field);
    const refuse = (text: string): number => issues.push(invalid(here, report[field], text));
    if (started === undefined) refuse(`cannot be set before ${startPath.toString()} is set`);
    else if (field === 'heartbeatTime' && before !== undefined && time < before) refuse('cannot be decreased');
    else if (time < started) refuse(`must occur after ${startPath.toString()}`);
    else if (field === 'expectedCompletionTime') {
      if (time < now - CLOCK_SKEW_MS) refuse('cannot be set to the past time');
      else if (time > now + TEN_YEARS_MS) refuse('must complete within 10 years');
    } else if (before !== time && !isNear(time)) issues.push(notPresent(here, report[field]));
  }
  return issues;
}

const notPresent = (path: FieldPath, time: unknown): Issue => invalid(path, time, 'must be set to the present time');

const isSameTime = (a: string | undefined, b: string | undefined): boolean => parseTime(a) === parseTime(b);
