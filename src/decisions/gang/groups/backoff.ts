const FIRST_MS = 1000;
const LONGEST_MS = 10_000;

/** How long an entity rests after its nth failed attempt: doubling from 1 s to 10 s, longer for larger groups. */
export function backoffMs(attempts: number, pods = 1): number {
  const cap = LONGEST_MS * Math.sqrt(Math.max(1, pods));
  return Math.min(FIRST_MS * 2 ** Math.min(Math.max(0, attempts - 1), 30), cap);
}
