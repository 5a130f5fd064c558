import { formatAge, parseTime } from '../../machinery/values/index.ts';
import type { BudgetExplanation, BudgetNumbers, Explanation, ShortPod } from './explanation.ts';
import type { RefusalAnswer } from './kubernetes-texts.ts';
import type { ModeReason } from './mode.ts';
import { GRANT_REASONS, REFUSAL_REASONS } from './verdict.ts';

const REASONS = { ...GRANT_REASONS, ...REFUSAL_REASONS };

/** One sentence per line, for people. */
export function formatExplanation(explanation: Explanation, now: number): string[] {
  const { budgets, pod, reason, remedies, short, shortTotal, unit } = explanation;
  const can = explanation.allowed ? 'may' : 'may not';
  const when = explanation.jointly ? 'after the pods before it' : 'now';
  const lines = [`Pod ${pod} ${can} be evicted ${when}: ${REASONS[reason]} (${reason}).`];
  for (const budget of budgets) lines.push(formatBudget(budget));
  for (const { message } of explanation.policies ?? []) lines.push(`${message}.`);
  if (explanation.room !== undefined) lines.push(`${explanation.room}.`);
  if (unit !== undefined) {
    lines.push(formatUnit(unit));
  }
  for (const one of short) lines.push(`  ${formatShort(one, now)}`);
  if (shortTotal > short.length) lines.push(`  and ${shortTotal - short.length} more`);
  for (const [at, remedy] of remedies.entries()) lines.push(`${at === 0 ? 'To unblock' : 'Or'}: ${remedy.text}.`);
  return lines;
}

export function formatBudgetExplanation(explanation: BudgetExplanation, now: number): string[] {
  const { budget, incomplete, individual, pods, remedies, short, shortTotal } = explanation;
  const lines = [
    formatBudget(budget),
    `It selects ${pods} ${pods === 1 ? 'pod' : 'pods'}; it counts ${budget.counts === 'PodGroup' ? 'groups' : 'pods'} because ${MODES[budget.modeReason]} (${budget.modeReason}).`,
  ];
  if (individual > 0) lines.push(`${individual} of its pods belong to no group and are left out of the count.`);
  for (const one of short) lines.push(`  ${formatShort(one, now)}`);
  if (shortTotal > short.length) lines.push(`  and ${shortTotal - short.length} more`);
  for (const { minCount, name, pods: found } of incomplete)
    lines.push(`  Group ${name} has ${found} of the ${minCount} pods it needs, ${minCount - found} missing`);
  for (const [at, remedy] of remedies.entries())
    lines.push(`${at === 0 ? 'To allow one disruption' : 'Or'}: ${remedy.text}.`);
  return lines;
}

const MODES: Readonly<Record<ModeReason, string>> = {
  GroupUnits: 'its pods belong to groups',
  Settling: 'it did before some of its groups could no longer be resolved, and waits whether they come back',
  PodGroupResolutionFailed: 'its annotation asks for it, although some groups cannot be resolved',
  WorkloadNotFound: 'a pod names a Workload that does not exist',
  PodGroupNotFound: 'a pod names a pod group that does not exist',
  IncompleteReference: 'a pod names its group only in part',
  CompositePodGroupNotFound: 'the group of a pod names a CompositePodGroup that does not exist',
  TooManyLevels: 'the group of a pod is in a tree of more than 4 levels, or in one without end',
  PartiallyLabelled: 'pods of one controller name a group only in part',
  NoGangPolicy: 'none of its groups has a minimum',
  NoGroupedPods: 'its pods belong to no group',
  PodScope: 'its annotation asks for it',
  UnknownGroupBy: 'its annotation group-by is not understood',
};

/** The same as causes of a Status; they follow the one that Kubernetes prescribes. */
export function explanationCauses(explanation: Explanation, now: number): { reason: string; message: string }[] {
  const { budgets, remedies, short, unit } = explanation;
  const causes = budgets.map((budget) => ({ reason: 'QuorateBudget', message: formatBudget(budget) }));
  if (unit !== undefined) {
    causes.push({ reason: 'QuorateGroup', message: formatUnit(unit) });
  }
  for (const one of short) causes.push({ reason: 'QuorateShortPod', message: formatShort(one, now) });
  for (const { text } of remedies) causes.push({ reason: 'QuorateUnblock', message: text });
  return causes;
}

/**
 * The message of a refusal. Under a budget that counts groups it goes on after Kubernetes' own sentence, in one line,
 * because `kubectl drain` prints the message and never the causes. Budgets of pods keep theirs to the letter, but where
 * they ask for room.
 */
export function refusalMessage({ code, message }: RefusalAnswer, explanation: Explanation | undefined): string {
  const budget = explanation?.budgets[0];
  if (code !== 429 || explanation === undefined || budget === undefined) return message;
  const { remedies, room, unit } = explanation;
  if (budget.counts !== 'PodGroup') return room === undefined ? message : `${message} ${room}.`;
  const parts = [message, formatBudget(budget)];
  if (room !== undefined) parts.push(`${room}.`);
  if (unit !== undefined) parts.push(formatUnit(unit));
  const [first] = remedies;
  if (first !== undefined) parts.push(`To unblock: ${first.text}.`);
  return parts.join(' ');
}

const formatUnit = ({ healthy, members, minCount, name }: NonNullable<Explanation['unit']>): string =>
  `Group ${name}: ${healthy} of ${members} pods healthy, needs ${minCount}.`;

export function formatBudget({ allowed, asks, counts, desired, expected, healthy, name }: BudgetNumbers): string {
  const units = counts === 'PodGroup' ? 'pod groups' : 'pods';
  const total = expected > 0 ? ` of ${expected} expected` : '';
  return `Budget ${name} (${asks}) counts ${units}: ${healthy}${total} healthy, ${desired} needed, ${allowed} may be disrupted.`;
}

export function formatShort({ name, since, unit, why }: ShortPod, now: number): string {
  const at = parseTime(since);
  // A graceful deletion is dated at its end, which may lie ahead.
  const age = at === undefined || at > now ? '' : ` for ${formatAge(now - at)}`;
  const where = unit === undefined ? '' : ` (group ${unit})`;
  const state = SHORT_STATES[why];
  return `Pod ${name}${where} is ${state}${age}`;
}

const SHORT_STATES: Readonly<Record<ShortPod['why'], string>> = {
  NotReady: 'not Ready',
  Terminating: 'terminating',
  Evicting: 'approved for eviction',
  Unresolved: 'in a group that cannot be resolved',
};
