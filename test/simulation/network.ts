import type { UserInfo } from '../../src/apiserver/index.ts';
import type { SharedEvent, Transport, TransportRequest, TransportResponse } from '../../src/machinery/runtime/index.ts';
import type { Dice } from '../placement/dice.ts';
import type { SimulatedProcess } from './process.ts';

/** How bad the connections are at the moment, in percent of the messages. */
export interface Weather {
  readonly late: number;
  readonly longestMs: number;
  /** Requests that never arrive. */
  readonly lost: number;
  /** Requests that are carried out while their answer never arrives. */
  readonly unanswered: number;
  /** Requests without effect that a transport sends again by itself. */
  readonly doubled: number;
  /** Batches of events after which their watch breaks. */
  readonly cut: number;
}

export const CALM: Weather = { late: 0, longestMs: 0, lost: 0, unanswered: 0, doubled: 0, cut: 0 };

/** The server as requests reach it. */
export interface Reachable {
  readonly transportFor: (user: UserInfo) => Transport;
  /** Rejects when it dies. */
  readonly death: Promise<never>;
  /** The time that its answers are dated with. */
  readonly now: () => number;
}

export type Hearing = (events: readonly SharedEvent[]) => void;

export interface NetworkOptions {
  readonly dice: Dice;
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly server: () => Reachable | undefined;
  readonly happened: (fault: string) => void;
  /** A crash may be due right before or right after a request; true: it came. */
  readonly crashPoint: (process: SimulatedProcess, request: TransportRequest, when: 'before' | 'after') => boolean;
  /** Called with what left the server, whether it arrives or not. */
  readonly answered: (request: TransportRequest, response: TransportResponse) => void;
  /** A planted bug: watches lose one of so many batches of events. */
  readonly deaf?: number | undefined;
  /** Called when a watch is opened, for who looks at its events as they arrive. */
  readonly watched: (request: TransportRequest, process: SimulatedProcess) => { heard: Hearing; closed: () => void };
}

const isRead = ({ method }: TransportRequest): boolean => method === 'GET';

/** Between processes and the server: the only way for one to know of the other. */
export class Network {
  weather: Weather = CALM;
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  transportFor(process: SimulatedProcess, user: UserInfo): Transport {
    return (request) => this.#send(process, user, request);
  }

  async #send(process: SimulatedProcess, user: UserInfo, request: TransportRequest): Promise<TransportResponse> {
    const { crashPoint, dice, happened, server } = this.#options;
    await process.running();
    if (crashPoint(process, request, 'before')) return never();
    await this.#travel(request.signal);
    const lost = dice.chance(this.weather.lost);
    const reached = server();
    if (lost && reached !== undefined) {
      happened('request lost');
      throw broken('the connection was reset');
    }
    if (reached === undefined) {
      await process.running();
      throw broken('the connection was refused');
    }
    if (isRead(request) && !isWatch(request) && dice.chance(this.weather.doubled)) {
      happened('request doubled');
      await this.#exchange(reached, user, request);
    }
    const response = await this.#exchange(reached, user, request);
    if (crashPoint(process, request, 'after')) return never();
    if (dice.chance(this.weather.unanswered)) {
      happened('answer lost');
      await process.running();
      throw broken('the connection was reset');
    }
    await this.#travel(request.signal);
    await process.running();
    if (response.events === undefined) return response;
    return { ...response, events: this.#stream(process, reached, request, response.events) };
  }

  /** A call of the server to a process. Mutating webhooks may be asked twice about one request. */
  async call<T>(process: SimulatedProcess, ask: () => Promise<T>): Promise<T> {
    const { dice, happened } = this.#options;
    const asked = async (): Promise<T> => {
      await this.#travel(undefined);
      if (dice.chance(this.weather.lost)) {
        happened('review lost');
        throw broken('the connection was reset');
      }
      await process.running();
      const answer = await ask();
      await process.running();
      if (dice.chance(this.weather.unanswered)) {
        happened('answer to a review lost');
        throw broken('the connection was reset');
      }
      await this.#travel(undefined);
      return answer;
    };
    if (dice.chance(this.weather.doubled)) {
      happened('review doubled');
      await asked();
    }
    return asked();
  }

  async #exchange(reached: Reachable, user: UserInfo, request: TransportRequest): Promise<TransportResponse> {
    const response = await Promise.race([reached.transportFor(user)(request), reached.death]);
    this.#options.answered(request, response);
    return { ...response, headers: { ...response.headers, date: new Date(reached.now()).toUTCString() } };
  }

  /** Events arrive late, but in order; a broken watch ends without a word or with an error. */
  async *#stream(
    process: SimulatedProcess,
    { death }: Reachable,
    request: TransportRequest,
    events: AsyncIterable<readonly SharedEvent[]>,
  ): AsyncGenerator<readonly SharedEvent[]> {
    const { deaf, dice, happened, watched } = this.#options;
    const { closed, heard } = watched(request, process);
    const batches = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await Promise.race([batches.next(), death]);
        if (next.done === true) return;
        await this.#travel(request.signal);
        await process.running();
        if (deaf !== undefined && dice.whole(1, deaf) === 1) continue;
        heard(next.value);
        yield next.value;
        if (dice.chance(this.weather.cut)) {
          happened('watch cut');
          if (dice.chance(50)) return;
          throw broken('the connection was reset');
        }
      }
    } finally {
      closed();
      void batches.return?.();
    }
  }

  #travel(signal: AbortSignal | undefined): Promise<void> {
    const { after, dice, happened } = this.#options;
    if (!dice.chance(this.weather.late)) return Promise.resolve();
    happened('message late');
    const lateMs = dice.whole(1, Math.max(1, this.weather.longestMs));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      after(lateMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }
}

export const isWatch = ({ path }: TransportRequest): boolean => path.includes('watch=true');

const never = (): Promise<never> => new Promise(() => {});

function broken(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
