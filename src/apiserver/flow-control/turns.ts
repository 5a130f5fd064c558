/**
 * Who may begin, and when. The server has one thread, so there are two things to share out. *Seats* are held by requests
 * under way, which mostly wait for the disk or a webhook: each level has its own and what the others lend. *ThreadTurns* are the
 * thread itself: in one turn of the event loop only so much work is begun, and what comes beyond that waits in the fair
 * queues until the sockets were looked at again. Without contention a request begins at once and nothing of this is felt.
 */
import type { Clock } from '../../machinery/runtime/index.ts';
import type { FairQueues, Waiting } from './fair-queues.ts';
import { type PriorityLevel, SERVER_SEATS } from './priority-level.ts';

/** Work that is begun in one turn, by cost: some milliseconds. */
export const COST_PER_TURN = 16;
/** A quarter of the time a request may take in all, as kube-apiserver has it. */
export const WAIT_MS = 15_000;

/** Why a request was not let in, in the words of Kubernetes' metrics. */
export type FlowRefusal = 'cancelled' | 'concurrency-limit' | 'queue-full' | 'time-out';

export interface Entering extends Waiting {
  readonly level: PriorityLevel<Entering>;
  /** Undefined: it begins. Called once, where it had to wait. */
  settle: (rejection: FlowRefusal | undefined) => void;
}

export interface ThreadTurnsOptions {
  readonly clock: Clock;
  /** Calls back in the next turn of the event loop, after the sockets. */
  readonly nextTurn?: (callback: () => void) => void;
}

export class ThreadTurns {
  readonly #clock: Clock;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #levels = new Set<PriorityLevel<Entering>>();
  #spent = 0;
  #seated = 0;
  /** Virtual time of the levels: how far the one was that began last. One that was idle does not save its turns up. */
  #now = 0;
  #isTurnPending = false;

  constructor({ clock, nextTurn = setImmediate }: ThreadTurnsOptions) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** Levels that are gone are kept until nobody waits in them. */
  use(levels: Iterable<PriorityLevel<Entering>>): void {
    for (const level of this.#levels) if (level.queues.length === 0) this.#levels.delete(level);
    for (const level of levels) this.#levels.add(level);
    this.#dispatch();
  }

  /** Takes the seats and returns true, or false where the request has to `wait`. */
  begin(request: Entering): boolean {
    if (this.#spent >= COST_PER_TURN || request.level.queues.length > 0 || !this.#hasSeats(request)) return false;
    this.#start(request);
    return true;
  }

  /** Waits for what `begin` did not find; `settle` is called later, or now with the reason of a refusal. */
  wait(request: Entering, signal: AbortSignal): void {
    const { level, settle } = request;
    if (level.rejects && !this.#hasSeats(request, seatsOf(level.queues))) return settle('concurrency-limit');
    if (level.queues.length === 0) level.used = Math.max(level.used, this.#now);
    if (!level.queues.add(request)) return settle('queue-full');
    const give = (rejection: FlowRefusal) => (): void => {
      if (level.queues.remove(request)) request.settle(rejection);
    };
    const gone = give('cancelled');
    const cancel = this.#clock.after(WAIT_MS, give('time-out'));
    signal.addEventListener('abort', gone, { once: true });
    request.settle = (rejection) => {
      cancel();
      signal.removeEventListener('abort', gone);
      settle(rejection);
    };
    if (signal.aborted) gone();
  }

  leave({ level, seats }: Entering): void {
    level.seated -= seats;
    this.#seated -= seats;
    if (this.#spent < COST_PER_TURN) this.#dispatch();
  }

  #start({ cost, level, seats }: Entering): void {
    level.seated += seats;
    this.#seated += seats;
    this.#now = Math.max(this.#now, level.used);
    level.used = this.#now + cost / Math.max(1, level.shares);
    this.#spent += cost;
    if (this.#isTurnPending) return;
    this.#isTurnPending = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnPending = false;
    this.#spent = 0;
    this.#dispatch();
  };

  #dispatch(): void {
    while (this.#spent < COST_PER_TURN) {
      const request = this.#nextLevel()?.queues.take();
      if (request === undefined) return;
      this.#start(request);
      request.settle(undefined);
    }
  }

  /** Of the levels whose first request finds a seat, the one that had least of the thread for its shares. */
  #nextLevel(): PriorityLevel<Entering> | undefined {
    let next: PriorityLevel<Entering> | undefined;
    for (const level of this.#levels) {
      const first = level.queues.peek();
      if (first === undefined || !this.#hasSeats(first)) continue;
      if (next === undefined || level.used < next.used) next = level;
    }
    return next;
  }

  /** Its own seats are always a level's; beyond them it has what the others need not keep. */
  #hasSeats({ level, seats }: Entering, ahead = 0): boolean {
    const wanted = level.seated + ahead + seats;
    if (wanted <= level.nominal) return true;
    if (wanted > level.most) return false;
    let kept = 0;
    for (const other of this.#levels) if (other !== level) kept += Math.max(0, other.kept - other.seated);
    return this.#seated + ahead + seats + kept <= SERVER_SEATS;
  }
}

function seatsOf(queues: FairQueues<Entering>): number {
  let seats = 0;
  for (const waiting of queues) seats += waiting.seats;
  return seats;
}
