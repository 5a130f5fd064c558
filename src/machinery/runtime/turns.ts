/**
 * Turns for long work that must not hold up the rest of the process, such as lists of everything from a server in it.
 * Each part of such work is short, and of all that is going on in parallel one part runs in each round of the event
 * loop: requests wait for one part, however many are at it.
 */
const waiting: (() => void)[] = [];

/** Resolves when it is the caller's turn, and everything that was ready to run has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
