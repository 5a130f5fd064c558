import { formatAge, formatTime } from '../../machinery/values/index.ts';
import type { GroupLedger, LimitFacts, Period, PolicyFacts } from './facts.ts';

/** Why a limit refuses, and the words for it. */
export const LIMIT_REASONS = {
  TimeBudgetSpent: 'its policy allows no more disruptions in this time',
  TooSoonForGroup: 'its group was disrupted a short time ago',
  Settling: 'its group has only just become whole again',
  Starting: 'its group has only just started, or has never been whole',
  OutsideWindow: 'its policy allows disruptions only in windows, and none is open',
  DowntimeSpent: 'its group has been down for as long as its policy allows in a day',
  LedgerFull: 'its policy speaks for more groups than its ledger has room for',
} as const;

/** Groups that the ledger of one policy has room for. */
export const MAX_LEDGER_GROUPS = 5000;

export type LimitReason = keyof typeof LIMIT_REASONS;

export function isLimitReason(reason: string): reason is LimitReason {
  return reason in LIMIT_REASONS;
}

/** The group that a departure concerns, as pods show it now. */
export interface GroupNow {
  readonly namespace: string;
  /** As `KIND/NAME`. */
  readonly group: string;
  /** It is whole without the pods that are going. */
  readonly isWhole: boolean;
  /** It would not be without the pod. */
  readonly takesDown: boolean;
  /** When it became whole, by its members' own words. */
  readonly wholeSince: number | undefined;
}

export interface LimitRefusal {
  /** As `namespace/name`. */
  readonly policy: string;
  readonly reason: LimitReason;
  readonly message: string;
  readonly nextAllowed: number | undefined;
}

/** When the last of several limits lets go; undefined where one does not say. */
export function nextAllowed(refusals: readonly LimitRefusal[]): number | undefined {
  const times = refusals.map((one) => one.nextAllowed);
  if (times.length === 0 || times.includes(undefined)) return undefined;
  return Math.max(...times.filter((time) => time !== undefined));
}

/** What of its spec to change so that a limit lets go. */
export const LIMIT_FIELDS: Readonly<Record<LimitReason, string>> = {
  TimeBudgetSpent: 'limits.maxDisruptions',
  TooSoonForGroup: 'limits.minInterval',
  Settling: 'limits.settle.afterRecovery',
  Starting: 'limits.settle.afterStart',
  OutsideWindow: 'limits.windows',
  DowntimeSpent: 'limits.maxDisruptionSecondsPerDay',
  LedgerFull: 'selector',
};

/** A disruption that goes before, and is in no ledger yet. */
export interface Foregone {
  readonly group: string;
  readonly at: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Whether a departure is the business of limits: it takes a whole group down, and no disruption of the group is under way
 * that it would be part of. A group that never was whole is only kept from being touched while it starts.
 */
export function disrupts(policy: PolicyFacts, { group, isWhole, takesDown }: GroupNow, now: number): boolean {
  const known = policy.ledger.get(group);
  if (isWhole) return takesDown && !isOpen(known, timeOf(policy, now));
  return isStarting(known) && policy.limits?.afterStart !== undefined;
}

const isStarting = (known: GroupLedger | undefined): boolean =>
  known?.firstWholeAt === undefined && known?.wholeAt === undefined;

/** A disruption of the group was let pass a moment ago: further departures are part of it. */
export function isUnderWay(policy: PolicyFacts, group: string, now: number): boolean {
  return isOpen(policy.ledger.get(group), timeOf(policy, now));
}

function isOpen(known: GroupLedger | undefined, now: number): boolean {
  const last = known?.disruptions.at(-1);
  return last?.isOpen === true && last.openUntil > now;
}

/** The time limits go by: never before the newest of the ledger. */
const timeOf = ({ newest }: PolicyFacts, now: number): number => Math.max(now, newest);

/** The first limit of a policy that refuses a disruption of the group; undefined: none does. */
export function checkLimits(
  policy: PolicyFacts,
  now: GroupNow,
  clock: number,
  before: readonly Foregone[] = [],
): LimitRefusal | undefined {
  const { limits } = policy;
  if (limits === undefined || !disrupts(policy, now, clock)) return undefined;
  const t = timeOf(policy, clock);
  const asked: Asked = { policy, limits, t, now, known: policy.ledger.get(now.group), before };
  const found = now.isWhole
    ? (checkLedger(asked) ??
      checkRates(asked) ??
      checkInterval(asked) ??
      checkRecovery(asked) ??
      checkStart(asked) ??
      checkRest(asked))
    : checkStart(asked);
  if (found === undefined) return undefined;
  const name = `${policy.namespace}/${policy.name}`;
  const start = `DisruptionPolicy ${name} does not allow ${now.namespace}/${now.group} to be disrupted now: `;
  return { policy: name, reason: found.reason, message: start + found.text, nextAllowed: found.next };
}

interface Asked {
  readonly policy: PolicyFacts;
  readonly limits: LimitFacts;
  readonly t: number;
  readonly now: GroupNow;
  readonly known: GroupLedger | undefined;
  readonly before: readonly Foregone[];
}

interface Found {
  readonly reason: LimitReason;
  readonly text: string;
  readonly next: number | undefined;
}

function checkLedger({ known, policy: { ledger } }: Asked): Found | undefined {
  if (known !== undefined || ledger.size < MAX_LEDGER_GROUPS) return undefined;
  const text = `its ledger is full: it has room for ${MAX_LEDGER_GROUPS} groups`;
  return { reason: 'LedgerFull', text, next: undefined };
}

/** Intervals are open on the old side: exactly that long ago counts no more. */
function checkRates({ before, limits, policy, t }: Asked): Found | undefined {
  for (const { count, per, perMs } of limits.rates) {
    const used: Foregone[] = [];
    for (const one of policy.disruptions) {
      // What is kept for a group that is given notice counts as begun now.
      const at = one.isOpen && one.isKept && one.openUntil > t ? t : one.at;
      if (at > t - perMs && at <= t && (one.isVoluntary || limits.countsAll)) used.push(one);
    }
    used.push(...before);
    if (used.length < count) continue;
    const oldest = used[used.length - count];
    const shown = used.slice(-2).map(({ at, group }) => `${group.split('/').slice(1).join('/')} ${clockOf(at)}`);
    const names = shown.length === 0 ? '' : ` (${shown.join(', ')})`;
    return {
      reason: 'TimeBudgetSpent',
      text: `${used.length} of ${count} disruptions in ${per} are used${names}`,
      next: count === 0 || oldest === undefined ? undefined : oldest.at + perMs,
    };
  }
  return undefined;
}

function checkInterval({ before, known, limits, now, t }: Asked): Found | undefined {
  const { countsAll, minInterval } = limits;
  if (minInterval === undefined) return undefined;
  const counted = known?.disruptions.filter(({ isVoluntary }) => isVoluntary || countsAll) ?? [];
  const last = [...counted, ...before.filter(({ group }) => group === now.group)].at(-1)?.at;
  if (last === undefined || last <= t - minInterval.ms) return undefined;
  return {
    reason: 'TooSoonForGroup',
    text: `it was disrupted ${formatAge(t - last)} ago, at most once in ${minInterval.text}`,
    next: last + minInterval.ms,
  };
}

const young = (since: number | undefined, period: Period | undefined, t: number): period is Period =>
  period !== undefined && since !== undefined && since > t - period.ms;

function checkRecovery({ known, limits: { afterRecovery }, t }: Asked): Found | undefined {
  // Whole, and not noted yet: it has become so just now.
  const since = known?.downSince === undefined ? known?.wholeAt : t;
  if (since === undefined || !young(since, afterRecovery, t)) return undefined;
  return {
    reason: 'Settling',
    text: `it has been whole for ${formatAge(t - since)}, it needs ${afterRecovery.text}`,
    next: since + afterRecovery.ms,
  };
}

function checkStart({ known, limits: { afterStart }, now, t }: Asked): Found | undefined {
  if (afterStart === undefined) return undefined;
  const since = known?.firstWholeAt ?? (now.isWhole ? now.wholeSince : undefined);
  if (since === undefined) {
    const text = `it has not been whole yet, and needs ${afterStart.text} after that`;
    return now.isWhole ? undefined : { reason: 'Starting', text, next: undefined };
  }
  if (!young(since, afterStart, t)) return undefined;
  const text = `it started ${formatAge(t - since)} ago, it needs ${afterStart.text}`;
  return { reason: 'Starting', text, next: since + afterStart.ms };
}

function checkRest({ known, limits, t }: Asked): Found | undefined {
  const window = limits.windows?.at(t);
  if (window?.open === false) {
    const { opensAt } = window;
    const text =
      opensAt === undefined ? 'none of its windows ever opens' : `its next window opens ${formatTime(opensAt)}`;
    return { reason: 'OutsideWindow', text, next: opensAt };
  }
  const { secondsPerDay } = limits;
  if (secondsPerDay === undefined) return undefined;
  const stretches = (known?.down ?? []).filter(({ voluntary }) => voluntary || limits.countsAll);
  const down = secondsIn(stretches, t);
  if (down < secondsPerDay) return undefined;
  return {
    reason: 'DowntimeSpent',
    text: `it was down ${Math.floor(down)} s in the last day, allowed are ${secondsPerDay}`,
    next: secondsPerDay === 0 ? undefined : whenBelow(stretches, t, secondsPerDay),
  };
}

type Stretch = GroupLedger['down'][number];

function secondsIn(stretches: readonly Stretch[], t: number): number {
  const from = t - DAY_MS;
  return stretches.reduce((sum, one) => sum + Math.max(0, Math.min(one.to, t) - Math.max(one.from, from)), 0) / 1000;
}

/** When enough of the oldest seconds have left the last day: the first moment with less than the limit. */
function whenBelow(stretches: readonly Stretch[], t: number, limit: number): number | undefined {
  let excessMs = (secondsIn(stretches, t) - limit) * 1000;
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const begin = Math.max(from, t - DAY_MS);
    if (to <= begin) continue;
    if (to - begin > excessMs) return Math.max(begin + excessMs + DAY_MS, t) + 1000;
    excessMs -= to - begin;
  }
  return undefined;
}

const clockOf = (ms: number): string => formatTime(ms).slice(11, 16);
