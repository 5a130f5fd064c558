import {
  checkDnsSubdomain,
  deepEqual,
  duplicate,
  FieldPath,
  forbidden,
  invalid,
  isPercent,
  type Issue,
  notSupported,
  parseDurationMs,
  parsePercent,
  parseTime,
  required,
  tooMany,
  validateLabelSelector,
  validateName,
} from '../../machinery/values/index.ts';
import {
  isFinished,
  type Maintenance,
  type MaintenanceNodes,
  type MaintenancePace,
  type MaintenanceSpec,
} from './maintenance.ts';
import { validateWindows } from './window.ts';

const SPEC = FieldPath.of('spec');
const MAX_NODES = 5000;
const MAX_REASON = 256;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

export const MAINTENANCE_ENUMS = {
  mode: ['AllOrNothing', 'BestEffort'],
  uncordon: ['Never', 'WhenDrained', 'WhenFinished'],
  cordon: ['AllFirst', 'ByStep'],
  capacity: ['Required', 'Ignore'],
  replan: ['WithinPlan', 'Any'],
  onDeadlock: ['Report', 'Yield'],
} as const;

/** Every rule that a new Maintenance breaks. `isOwn`: Quorate itself writes it. */
export function validateMaintenance(maintenance: Maintenance, now: number, isOwn = false): Issue[] {
  const { spec } = maintenance;
  if (spec === undefined) return [required(SPEC)];
  const issues = validateSpec(spec);
  const deadline = parseTime(spec.deadline);
  if (deadline !== undefined && deadline <= now) issues.push(inThePast(spec.deadline));
  if (spec.source !== undefined && !isOwn) {
    issues.push(forbidden(SPEC.child('source'), 'is written by Quorate alone, for drains of others'));
  }
  return issues;
}

const inThePast = (deadline: unknown): Issue =>
  invalid(SPEC.child('deadline'), deadline, 'must not be in the past: nothing would ever begin');

/** What may be changed at any time until the end. */
const MUTABLE = new Set([
  'reason',
  'deadline',
  'windows',
  'replan',
  'pace',
  'recoveryTimeout',
  'onDeadlock',
  'paused',
  'cancelled',
  'ttlSecondsAfterFinished',
]);
const MUTABLE_AT_END = new Set(['reason', 'ttlSecondsAfterFinished']);

/** Every rule that a change breaks. */
export function validateMaintenanceUpdate(
  maintenance: Maintenance,
  old: Maintenance,
  now: number,
  isOwn = false,
): Issue[] {
  const { spec } = maintenance;
  if (spec === undefined) return [required(SPEC)];
  const before = old.spec ?? { nodes: {} };
  const issues = validateSpec(spec);
  const fields = new Set([...Object.keys(spec), ...Object.keys(before)]) as Set<keyof MaintenanceSpec>;
  const ended = isFinished(old);
  for (const field of fields) {
    const value = spec[field];
    if (deepEqual(value, before[field]) || (field === 'source' && isOwn)) continue;
    const path = SPEC.child(field);
    if (ended && !MUTABLE_AT_END.has(field)) {
      issues.push(invalid(path, value, 'field is immutable: this maintenance has ended; create another one'));
    } else if (field === 'cancelled' && before.cancelled === true) {
      issues.push(invalid(path, value, 'a cancelled maintenance cannot be revived; create another one'));
    } else if (field === 'notBefore') {
      if (old.status?.startedAt !== undefined)
        issues.push(invalid(path, value, 'field is immutable once it has begun'));
    } else if (!MUTABLE.has(field)) issues.push(invalid(path, value, 'field is immutable'));
    const deadline = field === 'deadline' ? parseTime(spec.deadline) : undefined;
    if (deadline !== undefined && deadline <= now) issues.push(inThePast(spec.deadline));
  }
  return issues;
}

function validateSpec(spec: MaintenanceSpec): Issue[] {
  const issues = [...validateNodes(spec.nodes ?? {}), ...validateWindows(spec.windows, SPEC.child('windows'))];
  const { deadline, notBefore, reason = '' } = spec;
  if (reason.length > MAX_REASON || /[\r\n]/.test(reason)) {
    issues.push(invalid(SPEC.child('reason'), reason, `must be one line of at most ${MAX_REASON} characters`));
  }
  for (const field of ['notBefore', 'deadline'] as const) {
    const text = spec[field];
    if (text !== undefined && parseTime(text) === undefined) {
      issues.push(invalid(SPEC.child(field), text, 'must be a time such as 2026-12-01T22:00:00Z'));
    }
  }
  const [from, to] = [parseTime(notBefore), parseTime(deadline)];
  if (from !== undefined && to !== undefined && to <= from) {
    issues.push(invalid(SPEC.child('deadline'), deadline, 'must be after spec.notBefore'));
  }
  for (const [field, supported] of Object.entries(MAINTENANCE_ENUMS)) {
    const value = spec[field as keyof typeof MAINTENANCE_ENUMS];
    if (value !== undefined && !(supported as readonly string[]).includes(value)) {
      issues.push(notSupported(SPEC.child(field), value, supported));
    }
  }
  if (spec.uncordon === 'WhenDrained' && spec.nodesReturn !== true) {
    issues.push(invalid(SPEC.child('uncordon'), spec.uncordon, 'needs spec.nodesReturn: the plan counts on the nodes'));
  }
  issues.push(...validatePace(spec.pace ?? {}));
  issues.push(...wholeNumber(SPEC.child('pods', 'gracePeriodSeconds'), spec.pods?.gracePeriodSeconds, 0));
  issues.push(...duration(SPEC.child('recoveryTimeout'), spec.recoveryTimeout, { from: MINUTE_MS, text: '1m to 24h' }));
  issues.push(...wholeNumber(SPEC.child('ttlSecondsAfterFinished'), spec.ttlSecondsAfterFinished, 0));
  return issues;
}

function validateNodes({ all, names, selector }: MaintenanceNodes): Issue[] {
  const path = SPEC.child('nodes');
  const issues: Issue[] = [];
  if (all === true && (names !== undefined || selector !== undefined)) {
    issues.push(invalid(path, 'all', 'choose one: nodes.all is every node; names and a selector go without it'));
  }
  if (all !== true && (names ?? []).length === 0 && selector === undefined) {
    issues.push(required(path, 'name nodes, give a selector, or set nodes.all for every node'));
  }
  if ((names ?? []).length > MAX_NODES) issues.push(tooMany(path.child('names'), names?.length ?? 0, MAX_NODES));
  const seen = new Set<string>();
  for (const [at, name] of (names ?? []).entries()) {
    const here = path.child('names').index(at);
    issues.push(...validateName(here, name, checkDnsSubdomain));
    if (seen.has(name)) issues.push(duplicate(here, name));
    seen.add(name);
  }
  if (selector === undefined) return issues;
  const here = path.child('selector');
  const empty = Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
  if (empty) issues.push(invalid(here, selector, 'selects nothing in particular; nodes.all asks for every node'));
  return [...issues, ...validateLabelSelector(here, selector)];
}

function validatePace({ maxGroupsDownAtOnce, maxNodesAtOnce, pauseBetweenSteps }: MaintenancePace): Issue[] {
  const path = SPEC.child('pace');
  const issues = wholeNumber(path.child('maxGroupsDownAtOnce'), maxGroupsDownAtOnce, 1);
  if (maxNodesAtOnce !== undefined) {
    const percent = parsePercent(maxNodesAtOnce);
    const fits = isPercent(maxNodesAtOnce)
      ? percent !== undefined && percent >= 1 && percent <= 100
      : Number.isInteger(maxNodesAtOnce) && Number(maxNodesAtOnce) >= 1;
    if (!fits) {
      const text = 'must be a number of nodes from 1, or 1% to 100% of them';
      issues.push(invalid(path.child('maxNodesAtOnce'), maxNodesAtOnce, text));
    }
  }
  issues.push(...duration(path.child('pauseBetweenSteps'), pauseBetweenSteps, { from: 0, text: '0s to 24h' }));
  return issues;
}

function wholeNumber(path: FieldPath, value: number | undefined, least: number): Issue[] {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return [];
  return [invalid(path, value, `must be greater than or equal to ${least}`)];
}

function duration(path: FieldPath, value: string | undefined, { from, text }: { from: number; text: string }): Issue[] {
  if (value === undefined) return [];
  const ms = parseDurationMs(value);
  return ms === undefined || ms < from || ms > DAY_MS ? [invalid(path, value, `must be a duration from ${text}`)] : [];
}

/** What someone lacks who may create Maintenances but not do what they do. */
export function missingRight(user: string, what: string): string {
  return `User "${user}" cannot create a maintenance: it takes the right to ${what}`;
}

/** The rights that creating one takes beside the right to create it, in all namespaces. */
export const MAINTENANCE_RIGHTS = [
  { text: 'patch nodes', verb: 'patch', group: '', plural: 'nodes', subresource: undefined },
  {
    text: 'create pods/eviction in all namespaces',
    verb: 'create',
    group: '',
    plural: 'pods',
    subresource: 'eviction',
  },
] as const;
