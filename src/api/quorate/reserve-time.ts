import { parseDurationMs } from '../../machinery/values/index.ts';

const SHORTEST_RESERVE_MS = 10_000;
const LONGEST_RESERVE_MS = 24 * 3_600_000;

/** For how long room is to be held, as a budget says it; undefined for what is no duration, or out of bounds. */
export function readReserveMs(text: string): number | undefined {
  const ms = parseDurationMs(text);
  return ms !== undefined && ms >= SHORTEST_RESERVE_MS && ms <= LONGEST_RESERVE_MS ? ms : undefined;
}
