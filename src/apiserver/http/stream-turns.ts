/** How many new streams are served in one turn of the event loop: more than any client opens that waits for answers. */
const STREAMS_PER_TURN = 64;

/**
 * Spreads streams that come all at once over turns of the event loop, in order. A flood of streams that are opened and
 * reset in one breath is seen to be gone by the next turn, and costs next to nothing.
 */
export class StreamTurns {
  readonly #waiting: (() => void)[] = [];
  #servedNow = 0;
  #isTurnPending = false;

  serve(start: () => void): void {
    if (this.#servedNow < STREAMS_PER_TURN && this.#waiting.length === 0) {
      this.#servedNow += 1;
      start();
    } else {
      this.#waiting.push(start);
    }
    this.#awaitTurn();
  }

  #awaitTurn(): void {
    if (this.#isTurnPending) return;
    this.#isTurnPending = true;
    setImmediate(() => {
      this.#isTurnPending = false;
      const due = this.#waiting.splice(0, STREAMS_PER_TURN);
      this.#servedNow = due.length;
      for (const start of due) start();
      if (due.length > 0) this.#awaitTurn();
    });
  }
}
