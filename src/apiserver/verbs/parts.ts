import { nextTurn } from '../../machinery/runtime/index.ts';
import type { Call } from '../context/call.ts';
import { LIMITS } from '../exchange/limits.ts';

/**
 * Writes of large objects take a turn of the event loop for each of their parts: reading, admission, validation, the
 * record of who set what, storing. Others are served between them. Undefined for all other writes, which take none.
 */
export function nextPart(call: Call, storedBytes = 0): Promise<void> | undefined {
  const bytes = Math.max(call.request.body?.length ?? 0, storedBytes);
  return bytes > LIMITS.writtenAtOnce ? nextTurn() : undefined;
}
