import type { RoomAnswer, RoomAsk, RoomJudge } from '../disruption/index.ts';

/** Condition of a budget that asks for room: whether what it guards would find places, were it to go now. */
export const CAPACITY_AVAILABLE = 'CapacityAvailable';

/** So many groups of one budget are asked about at a time: each is a search. */
const MAX_ASKED = 10;

export interface CapacityFinding {
  readonly type: typeof CAPACITY_AVAILABLE;
  readonly status: 'True' | 'False';
  readonly reason: 'RoomFound' | 'NothingToMove' | 'NoRoom' | 'CannotTell';
  readonly message: string;
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
