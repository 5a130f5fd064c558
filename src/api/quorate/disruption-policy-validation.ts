import {
  duplicate,
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  parseDurationMs,
  required,
  tooMany,
  validateLabelSelector,
} from '../../machinery/values/index.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../scheduling/stored.ts';
import type {
  DisruptionLimits,
  DisruptionPolicy,
  DisruptionPolicySpec,
  DisruptionRate,
  PolicyTargetRef,
} from './disruption-policy.ts';
import { validateNotice } from './notice-validation.ts';
import { validateWindows } from './window.ts';

const SPEC = FieldPath.of('spec');
const LIMITS = SPEC.child('limits');
const MAX_RATES = 4;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

const WORKLOAD_GROUPS = [SCHEDULING_GROUP, OWN_SCHEDULING_GROUP];

/** What a policy may name, with the API groups it is found in. */
export const POLICY_TARGETS: Readonly<Record<string, readonly string[]>> = {
  PodGroup: WORKLOAD_GROUPS,
  Workload: WORKLOAD_GROUPS,
  LeaderWorkerSet: ['leaderworkerset.x-k8s.io', 'apps.kruise.io'],
  JobSet: ['jobset.x-k8s.io'],
  Job: ['batch'],
  StatefulSet: ['apps'],
  Deployment: ['apps'],
  ReplicaSet: ['apps'],
};

/** Every rule that a DisruptionPolicy breaks. */
export function validateDisruptionPolicy({ spec }: DisruptionPolicy): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const { limits, notice } = spec;
  return [
    ...validateSelection(spec),
    ...(notice === undefined && limits === undefined
      ? [required(SPEC, 'set limits, notice or both: without them it asks for nothing')]
      : []),
    ...(notice === undefined ? [] : validateNotice(notice, SPEC.child('notice'))),
    ...(limits === undefined ? [] : validateLimits(limits)),
  ];
}

function validateSelection({ selector, targetRef }: DisruptionPolicySpec): Issue[] {
  if (selector !== undefined && targetRef !== undefined) {
    return [forbidden(SPEC.child('targetRef'), 'choose one: a selector or a reference')];
  }
  if (selector !== undefined) return validateLabelSelector(SPEC.child('selector'), selector);
  if (targetRef !== undefined) return validateTarget(targetRef);
  return [required(SPEC.child('selector'), 'or name an object in targetRef; {} selects every group of the namespace')];
}

function validateTarget({ apiVersion, kind, name }: PolicyTargetRef): Issue[] {
  const path = SPEC.child('targetRef');
  const issues: Issue[] = [];
  const groups = Object.hasOwn(POLICY_TARGETS, kind) ? POLICY_TARGETS[kind] : undefined;
  if (!kind) issues.push(required(path.child('kind')));
  else if (groups === undefined) issues.push(notSupported(path.child('kind'), kind, Object.keys(POLICY_TARGETS)));
  if (!name) issues.push(required(path.child('name')));
  if (apiVersion && groups !== undefined && !groups.includes(apiVersion.split('/')[0] ?? '')) {
    issues.push(invalid(path.child('apiVersion'), apiVersion, `${kind} is of the API group ${groups.join(' or ')}`));
  }
  return issues;
}

function validateLimits(limits: DisruptionLimits): Issue[] {
  const { counts, maxDisruptionSecondsPerDay, maxDisruptions, minInterval, settle, windows } = limits;
  const seconds = LIMITS.child('maxDisruptionSecondsPerDay');
  const settling = LIMITS.child('settle');
  const week = { from: SECOND_MS, to: 7 * DAY_MS, text: '1s to 168h' };
  const day = { from: SECOND_MS, to: DAY_MS, text: '1s to 24h' };
  return [
    ...validateRates(maxDisruptions ?? []),
    ...validateDuration(LIMITS.child('minInterval'), minInterval, week),
    ...validateDuration(settling.child('afterRecovery'), settle?.afterRecovery, day),
    ...validateDuration(settling.child('afterStart'), settle?.afterStart, day),
    ...validateWindows(windows, LIMITS.child('windows')),
    ...validateCount(seconds, maxDisruptionSecondsPerDay),
    ...(counts === undefined || counts === 'Voluntary' || counts === 'All'
      ? []
      : [notSupported(LIMITS.child('counts'), counts, ['Voluntary', 'All'])]),
  ];
}

function validateRates(rates: readonly DisruptionRate[]): Issue[] {
  const path = LIMITS.child('maxDisruptions');
  const issues: Issue[] = rates.length > MAX_RATES ? [tooMany(path, rates.length, MAX_RATES)] : [];
  const seen = new Set<number>();
  for (const [at, { count, per }] of rates.entries()) {
    const here = path.index(at);
    if (count === undefined) issues.push(required(here.child('count')));
    issues.push(...validateCount(here.child('count'), count));
    if (!per) issues.push(required(here.child('per')));
    const range = { from: MINUTE_MS, to: 7 * DAY_MS, text: '1m to 168h' };
    issues.push(...validateDuration(here.child('per'), per || undefined, range));
    const ms = per ? parseDurationMs(per) : undefined;
    if (ms === undefined) continue;
    if (seen.has(ms)) issues.push(duplicate(here.child('per'), per));
    seen.add(ms);
  }
  return issues;
}

function validateCount(path: FieldPath, value: number | undefined): Issue[] {
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return [];
  return [invalid(path, value, 'must be greater than or equal to 0')];
}

interface DurationRange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export function validateDuration(
  path: FieldPath,
  value: string | undefined,
  { from, text, to }: DurationRange,
): Issue[] {
  if (value === undefined) return [];
  const ms = parseDurationMs(value);
  return ms === undefined || ms < from || ms > to ? [invalid(path, value, `must be a duration from ${text}`)] : [];
}
