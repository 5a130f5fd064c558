import type { EvictionResponder } from '../../api/generated/core-v1.ts';
import type { EvictionStatus, ResponderStatus, TargetResponder } from '../../api/generated/lifecycle-v1alpha1.ts';
import {
  DEFAULT_RESPONDER,
  DEFAULT_RESPONDER_PRIORITY,
  HEARTBEAT_DEADLINE_MS,
  inOrder,
  MAX_POD_RESPONDERS,
  type ResponderState,
} from '../../api/lifecycle/index.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';

/** Whose turn it is, and who had or will have theirs. */
export interface Turns {
  readonly targetResponders: readonly TargetResponder[];
  readonly responders: readonly ResponderStatus[];
}

/** That of whatever manages a pod. */
const NOTICE_PRIORITY = 10_000;

/**
 * What the pod asks for, who speaks for its group where there is room for that, and the default one behind them. A pod
 * that names the one for its group itself has said when its turn is.
 */
export function firstTurns(responders: readonly EvictionResponder[], forGroup?: string): Turns {
  const isMissing = responders.length < MAX_POD_RESPONDERS && !responders.some(({ name }) => name === forGroup);
  const all = inOrder([
    ...responders.map(({ name, priority }) => ({ name, priority })),
    ...(forGroup !== undefined && isMissing ? [{ name: forGroup, priority: NOTICE_PRIORITY }] : []),
    { name: DEFAULT_RESPONDER, priority: DEFAULT_RESPONDER_PRIORITY },
  ]);
  return {
    targetResponders: all.map((one) => ({ ...one, state: 'Inactive' })),
    responders: all.map(({ name }) => ({ name })),
  };
}

export const turnsOf = ({ responders, targetResponders }: EvictionStatus): Turns => ({
  targetResponders: targetResponders ?? [],
  responders: responders ?? [],
});

export interface ActiveTurn {
  readonly name: string;
  readonly report: ResponderStatus;
}

export function activeTurn({ responders, targetResponders }: Turns): ActiveTurn | undefined {
  const active = targetResponders.find(({ state }) => state === 'Active');
  if (active === undefined) return undefined;
  return { name: active.name, report: responders.find(({ name }) => name === active.name) ?? { name: active.name } };
}

/**
 * When a responder that is silent is passed over. The default one never is: whoever looks at this is the default one, and
 * may have been away itself.
 */
export function deadlineOf({ name, report }: ActiveTurn): number | undefined {
  if (name === DEFAULT_RESPONDER) return undefined;
  const heard = parseTime(report.heartbeatTime ?? report.startTime);
  return heard === undefined ? undefined : heard + HEARTBEAT_DEADLINE_MS;
}

/** The active one gets a final state. */
export function leave(turns: Turns, state: ResponderState): Turns {
  const { targetResponders } = turns;
  return {
    ...turns,
    targetResponders: targetResponders.map((one) => (one.state === 'Active' ? { ...one, state } : one)),
  };
}

/** The first that has not had its turn gets it; undefined when all have. */
export function nextTurn(turns: Turns, now: number): Turns | undefined {
  const next = inOrder(turns.targetResponders).find(({ state }) => state === 'Inactive');
  if (next === undefined) return undefined;
  const { name } = next;
  return {
    targetResponders: turns.targetResponders.map((one) => (one.name === name ? { ...one, state: 'Active' } : one)),
    responders: report(turns, name, { startTime: formatTime(now) }).responders,
  };
}

/** Something new from a responder. */
export function report(turns: Turns, name: string, news: Partial<ResponderStatus>): Turns {
  const { responders } = turns;
  return { ...turns, responders: responders.map((one) => (one.name === name ? { ...one, ...news } : one)) };
}

/** Times that a responder writes never lie before its start, whatever its clock says. */
export function timeFor({ startTime }: ResponderStatus, now: number): string {
  return formatTime(Math.max(now, parseTime(startTime) ?? now));
}
