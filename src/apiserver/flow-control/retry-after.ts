/** How long clients are told to stay away: doubled while many are refused, less again when few are. */
import type { Clock } from '../../machinery/runtime/index.ts';

const LONGEST_SECONDS = 32;

interface Refusals {
  seconds: number;
  /** When the count began, and when the time was last made longer. */
  since: number;
  raised: number;
  count: number;
}

export class RetryAfter {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #byLevel = new Map<string, Refusals>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** Counts a refusal in a level, and says after how many seconds to come again. */
  refused(level: string): number {
    const now = this.#clock.elapsed() / 1000;
    let state = this.#byLevel.get(level);
    if (state === undefined) {
      state = { seconds: 1, since: now, raised: now, count: 0 };
      this.#byLevel.set(level, state);
    }
    if (now - state.since >= state.seconds) {
      if (state.count >= 3 * state.seconds && now - state.raised >= state.seconds) {
        state.seconds = Math.min(LONGEST_SECONDS, state.seconds * 2);
        state.raised = now;
      } else if (state.count < state.seconds && state.seconds > 1) state.seconds -= 1;
      state.count = 0;
      state.since = now;
    }
    state.count += 1;
    return state.seconds;
  }
}
