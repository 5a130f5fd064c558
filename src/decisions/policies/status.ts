import type { Condition } from '../../api/generated/meta-v1.ts';
import type { DisruptionPolicyStatus, PolicyLedgerGroup } from '../../api/quorate/disruption-policy.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { setCondition } from '../disruption/conditions.ts';
import type { LimitFacts, PolicyFacts } from './facts.ts';
import { reservedUntil } from './ledger.ts';
import { checkLimits, type GroupNow, type LimitRefusal, MAX_LEDGER_GROUPS } from './limits.ts';

/** What a policy's status says, and when to look at it again. */
export interface PolicyOutlook {
  readonly status: DisruptionPolicyStatus;
  readonly lookAgainAt: number | undefined;
}

/** Works out what people read of a policy: whom it speaks for, and whether one of them may be disrupted now. */
export function policyOutlook(
  policy: PolicyFacts,
  before: DisruptionPolicyStatus,
  {
    groups,
    ledger,
    now,
    secretProblem,
  }: {
    groups: readonly GroupNow[];
    ledger: PolicyLedgerGroup[];
    now: number;
    /** Why headers of its calls cannot be read. */
    secretProblem?: string | undefined;
  },
): PolicyOutlook {
  const whole = groups.filter(({ isWhole }) => isWhole);
  const answers = whole.map(({ group, namespace, wholeSince }) =>
    checkLimits(policy, { group, namespace, wholeSince, isWhole: true, takesDown: true }, now),
  );
  const refusals = answers.filter((one) => one !== undefined);
  const allowed = refusals.length < whole.length || whole.length === 0;
  const soonest = allowed
    ? undefined
    : refusals.toSorted((a, b) => (a.nextAllowed ?? Infinity) - (b.nextAllowed ?? Infinity))[0];
  const { nextAllowed: _next, ledger: _ledger, ...rest } = before;
  const next = soonest?.nextAllowed;
  const status: DisruptionPolicyStatus = {
    ...rest,
    observedGeneration: policy.generation,
    selectedGroups: groups.length,
    since: before.since ?? formatTime(now),
    allowedNow: allowed,
    ...(next !== undefined && { nextAllowed: formatTime(next) }),
    conditions: conditionsOf(policy, before.conditions ?? [], { groups: groups.length, secretProblem, soonest, now }),
    ...(ledger.length > 0 && { ledger }),
    summary: { limits: limitsText(policy.limits), allowed: allowedText(soonest) },
  };
  return { status, lookAgainAt: lookAgainAt(ledger, refusals, now) };
}

function conditionsOf(
  { generation }: PolicyFacts,
  before: readonly Condition[],
  {
    groups,
    now,
    secretProblem,
    soonest,
  }: { groups: number; soonest: LimitRefusal | undefined; secretProblem: string | undefined; now: number },
): Condition[] {
  const isFull = groups > MAX_LEDGER_GROUPS;
  const counting = groups === 0 ? 'SelectsNothing' : 'Counting';
  const reason = isFull ? 'LedgerFull' : secretProblem === undefined ? counting : 'SecretMissing';
  const messages = {
    LedgerFull: `it speaks for ${groups} groups, its ledger has room for ${MAX_LEDGER_GROUPS}`,
    SecretMissing: secretProblem ?? '',
    SelectsNothing: 'no group is selected',
    Counting: `${groups} groups are selected`,
  };
  const status = reason === 'Counting' ? 'True' : 'False';
  const ready = { type: 'Ready', status, reason, message: messages[reason], observedGeneration: generation };
  const allowing = {
    type: 'Allowing',
    status: soonest === undefined ? 'True' : 'False',
    reason: soonest?.reason ?? 'WithinLimits',
    message: soonest?.message ?? 'a group may be disrupted now',
    observedGeneration: generation,
  };
  return setCondition(setCondition(before, ready, now), allowing, now);
}

function lookAgainAt(
  ledger: readonly PolicyLedgerGroup[],
  refusals: readonly LimitRefusal[],
  now: number,
): number | undefined {
  const times = refusals.flatMap(({ nextAllowed }) => nextAllowed ?? []);
  for (const { disruptions } of ledger) {
    const last = disruptions?.at(-1);
    if (last?.state === 'Reserved') times.push(reservedUntil(last));
  }
  const ahead = times.filter((time) => time > now);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

const allowedText = (refusal: LimitRefusal | undefined): string => {
  if (refusal === undefined) return 'Yes';
  const { nextAllowed, reason } = refusal;
  return nextAllowed === undefined ? reason : `${reason} until ${formatTime(nextAllowed).slice(11, 16)}`;
};

/** The limits in few words. */
function limitsText(limits: LimitFacts | undefined): string {
  if (limits === undefined) return '';
  const { afterRecovery, afterStart, minInterval, rates, secondsPerDay, windows } = limits;
  return [
    ...rates.map(({ count, per }) => `${count} per ${per}`),
    ...(minInterval === undefined ? [] : [`a group once in ${minInterval.text}`]),
    ...(afterRecovery === undefined ? [] : [`${afterRecovery.text} after recovery`]),
    ...(afterStart === undefined ? [] : [`${afterStart.text} after start`]),
    ...(windows === undefined ? [] : ['in windows']),
    ...(secondsPerDay === undefined ? [] : [`${secondsPerDay} s a day`]),
  ].join(', ');
}
