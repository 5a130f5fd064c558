import type { ApiHandler, ApiRequest, ApiResponse, StreamBody } from '../apiserver/index.ts';
import { type Clock, sleep, type StatusBody } from '../machinery/runtime/index.ts';

/** Which requests a fault meets; what is left out matches all. */
export interface FaultMatch {
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  readonly method?: string;
  /** A part of path and query, or a pattern. */
  readonly path?: string | RegExp;
  /** A part of the user agent, or, without a port, of the user's name. */
  readonly from?: string;
  /** How many requests; the next ones go through. Default: all until it is stopped. */
  readonly times?: number;
}

export interface Fault {
  /** Requests it has met so far. */
  readonly met: number;
  stop(): void;
}

/** Makes requests to a control plane go wrong. The plane's own `client` is spared, so that a test can always look. */
export interface Faults {
  /** The server answers with this code and does nothing, such as 503, 409 or 429. */
  answer(code: number, match?: FaultMatch): Fault;
  /** The request never arrives. */
  lose(match?: FaultMatch): Fault;
  /** The request is carried out, its answer never arrives: whether it was cannot be told. */
  loseAnswers(match?: FaultMatch): Fault;
  /** The request arrives so much later, by the plane's clock. */
  delay(ms: number, match?: FaultMatch): Fault;
  /** Ends every watch that is open now, as a server that restarts does. Returns how many there were. */
  cutWatches(): number;
  /** Stops every fault. */
  clear(): void;
}

/** The connection broke, as far as the client can tell. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  readonly code = 'ECONNRESET';
}

type Kind = { readonly answer: number } | { readonly delayMs: number } | 'lose' | 'loseAnswers';

interface Rule extends FaultMatch {
  readonly kind: Kind;
  met: number;
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export class InjectedFaults implements Faults {
  readonly #clock: Clock;
  readonly #rules = new Set<Rule>();
  readonly #watches = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  answer = (code: number, match?: FaultMatch): Fault => this.#add({ answer: code }, match);
  lose = (match?: FaultMatch): Fault => this.#add('lose', match);
  loseAnswers = (match?: FaultMatch): Fault => this.#add('loseAnswers', match);
  delay = (ms: number, match?: FaultMatch): Fault => this.#add({ delayMs: ms }, match);

  cutWatches = (): number => {
    const open = [...this.#watches];
    for (const cut of open) cut();
    return open.length;
  };

  clear = (): void => this.#rules.clear();

  /** The handler as callers in this process meet it. */
  guard(handle: ApiHandler): ApiHandler {
    return async (request) => {
      const rule = this.#take(request);
      if (rule?.kind === 'lose') throw new ConnectionLost('the connection was reset');
      if (rule !== undefined && typeof rule.kind === 'object') {
        if ('answer' in rule.kind) return failed(rule.kind.answer);
        await sleep(this.#clock, rule.kind.delayMs, request.signal);
      }
      const response = await handle(request);
      if (rule?.kind === 'loseAnswers') throw new ConnectionLost('the connection was reset');
      return typeof response.body === 'function' ? { ...response, body: this.#cuttable(response.body) } : response;
    };
  }

  /** The handler as callers on a port meet it: what is lost gets what a proxy says of a server that does not answer. */
  guardPort(handle: ApiHandler): ApiHandler {
    const guarded = this.guard(handle);
    return async (request) => {
      try {
        return await guarded(request);
      } catch (error) {
        if (error instanceof ConnectionLost) return failed(504);
        throw error;
      }
    };
  }

  #add(kind: Kind, match: FaultMatch = {}): Fault {
    const rule: Rule = { ...match, kind, met: 0 };
    this.#rules.add(rule);
    return {
      get met() {
        return rule.met;
      },
      stop: () => void this.#rules.delete(rule),
    };
  }

  /** The first fault that was set for such a request and has not met all of its own. */
  #take(request: ApiRequest): Rule | undefined {
    for (const rule of this.#rules) {
      if (rule.met >= (rule.times ?? Number.POSITIVE_INFINITY) || !matches(rule, request)) continue;
      rule.met += 1;
      return rule;
    }
    return undefined;
  }

  #cuttable(body: StreamBody): StreamBody {
    return (sink) => {
      const stop = body(sink);
      const cut = (): void => {
        end();
        sink.end();
      };
      const end = (): void => {
        this.#watches.delete(cut);
        stop();
      };
      this.#watches.add(cut);
      return end;
    };
  }
}

function matches({ from, method, path }: FaultMatch, request: ApiRequest): boolean {
  if (method !== undefined && method !== request.method) return false;
  if (typeof path === 'string' ? !request.url.includes(path) : path?.test(request.url) === false) return false;
  if (from === undefined) return true;
  return [request.headers['user-agent'], request.peer.user?.username].some((who) => who?.includes(from) === true);
}

function failed(code: number): ApiResponse {
  const reason = REASONS[code] ?? '';
  const message = `the testkit answers ${code} to this request`;
  const status: StatusBody = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
  };
  const headers = { 'content-type': 'application/json' };
  return { status: code, headers, body: Buffer.from(JSON.stringify(status), 'utf8') };
}
