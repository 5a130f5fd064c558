import type { Condition } from '../../api/generated/meta-v1.ts';
import {
  CAPACITY_AVAILABLE,
  CAPACITY_LOST,
  type RoomAnswer,
  type RoomAsk,
  type RoomJudge,
} from '../disruption/index.ts';

export { CAPACITY_AVAILABLE };

/** So many groups of one budget are asked about at a time: each is a search. */
const MAX_ASKED = 10;

export interface CapacityFinding {
  readonly type: typeof CAPACITY_AVAILABLE;
  readonly status: 'True' | 'False';
  readonly reason: 'RoomFound' | 'NothingToMove' | 'NoRoom' | 'CannotTell' | typeof CAPACITY_LOST;
  readonly message: string;
}

/** Says that room which was held for a unit went to others: nothing else of the budget goes until that one is whole. */
export const capacityLost = (unit: string): CapacityFinding => ({
  type: CAPACITY_AVAILABLE,
  status: 'False',
  reason: CAPACITY_LOST,
  message: `${unit}: the room that was held for it is lost; no other goes until it is whole again`,
});

/** The unit whose room a budget says is lost. */
export function lostUnit(conditions: readonly Condition[] | undefined): string | undefined {
  const said = conditions?.find(({ reason, type }) => type === CAPACITY_AVAILABLE && reason === CAPACITY_LOST);
  return said?.message.split(': ')[0];
}

type Missing = Extract<RoomAnswer, { found: false }>;

/** What an eviction of each of these units would be told, in their order; the first that finds no room is named. */
export function findCapacity(judge: RoomJudge, asks: readonly RoomAsk[]): CapacityFinding {
  const type = CAPACITY_AVAILABLE;
  if (asks.length === 0) return { type, status: 'True', reason: 'NothingToMove', message: '' };
  const asked = [...asks].sort((a, b) => (a.unit < b.unit ? -1 : a.unit > b.unit ? 1 : 0)).slice(0, MAX_ASKED);
  const missing: { unit: string; answer: Missing }[] = [];
  for (const ask of asked) {
    const answer = judge.ask(ask);
    if (!answer.found) missing.push({ unit: ask.unit, answer });
  }
  const of = asks.length > asked.length ? `${asked.length} of ${asks.length} were asked about` : '';
  const [first] = missing;
  if (first === undefined) {
    const message = `whichever goes first finds places for all of it${of === '' ? '' : `; ${of}`}`;
    return { type, status: 'True', reason: 'RoomFound', message };
  }
  const { reason, text } = first.answer;
  const more = missing.length > 1 ? `${missing.length - 1} more find none` : '';
  return {
    type,
    status: 'False',
    reason,
    message: [`${first.unit}: ${text}`, more, of].filter((part) => part !== '').join('; '),
  };
}
