/** DisruptionPolicies as they are drawn, and the terms of one in plain numbers. */
import type { DisruptionPolicySpec } from '../../src/api/quorate/disruption-policy.ts';
import type { Window } from '../../src/api/quorate/window.ts';
import type { Dice } from '../placement/dice.ts';

/** Never what would keep groups from going for days: then nothing would happen. */
export function drawPolicy(dice: Dice, fleet: string): DisruptionPolicySpec {
  const windows: Window[] = [
    { start: `${String(dice.whole(0, 23)).padStart(2, '0')}:30`, duration: `${dice.whole(8, 20)}h` },
  ];
  const settle = {
    ...(dice.chance(60) && { afterRecovery: `${dice.whole(1, 30)}m` }),
    ...(dice.chance(30) && { afterStart: `${dice.whole(1, 10)}m` }),
  };
  const limits = {
    ...(dice.chance(60) && { maxDisruptions: [{ count: dice.whole(1, 4), per: dice.pick(['1h', '3h', '6h']) }] }),
    ...(dice.chance(40) && { minInterval: dice.pick(['30m', '2h', '6h']) }),
    ...(Object.keys(settle).length > 0 && { settle }),
    ...(dice.chance(30) && { windows }),
    ...(dice.chance(30) && { maxDisruptionSecondsPerDay: dice.whole(60, 900) }),
    ...(dice.chance(40) && { counts: 'All' as const }),
  };
  const from = dice.pick(['Nobody', 'AllMembers'] as const);
  const notice = { duration: `${dice.whole(10, 90)}s`, acknowledgement: { from } };
  const hasNotice = dice.chance(40);
  const hasLimits = Object.keys(limits).some((key) => key !== 'counts');
  return {
    selector: { matchLabels: { fleet } },
    ...((hasNotice || !hasLimits) && { notice }),
    ...(hasLimits && { limits }),
  };
}

/** By hand, on purpose: what judges must not read terms with the code that is judged. */
export function millisecondsOf(duration: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(duration);
  if (match === null) throw new Error(`not a duration of these draws: ${duration}`);
  return Number(match[1]) * { s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'];
}

/** Daily windows in UTC are all that is drawn. */
export function isInWindow({ duration, start }: Window, moment: number): boolean {
  const [hours = 0, minutes = 0] = start.split(':').map(Number);
  const day = 24 * 3_600_000;
  const since = (((moment - (hours * 60 + minutes) * 60_000) % day) + day) % day;
  return since < millisecondsOf(duration);
}
