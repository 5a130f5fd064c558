import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { KeyPair } from '../machinery/runtime/certificates.ts';
import { type Clock, type Logger, sleep, systemClock } from '../machinery/runtime/index.ts';
import { type Callers, splitToken } from './callers.ts';
import { boundConnections } from './connections.ts';
import { answerProbe, type ProbeCheck, undecidable, watchEventLoop } from './health.ts';
import { Intake, RejectedBody } from './intake.ts';
import { formatReview, parseReview, ReviewFormatError, type ReviewRequest, type ReviewResponse } from './review.ts';
import { type ReviewTraits, traitsOf } from './routes.ts';

export type ReviewHandler = (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewResponse>;

export interface WebhookServerOptions {
  readonly certificate: KeyPair;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Logger;
  /** By path, such as `/validate-eviction`. */
  readonly handlers: ReadonlyMap<string, ReviewHandler>;
  /** Whose reviews are believed. Probes are answered to anyone. */
  readonly callers: Callers;
  /** What `/readyz` looks at. */
  readonly checks: readonly ProbeCheck[];
  /** Told of what was turned away before anything was decided. */
  readonly rejected?: ((reason: RejectedReason) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** For head and body of a request together, from its first byte. */
  readonly requestLimitMs?: number | undefined;
}

export type RejectedReason = RejectedBody['reason'] | 'NotBelieved' | 'Malformed' | 'NotReady';

export interface WebhookServer {
  readonly port: number;
  /** Bytes of all bodies that are held or have been announced. */
  readonly bodyBytes: number;
  /** Puts a renewed certificate in use without dropping connections. */
  setCertificate(pair: KeyPair): void;
  /** Answers every review without a grant from now on, those under way at once; resolves when these have been sent. */
  decideNoMore(why: string): Promise<void>;
  /** Takes no new connections, gives up others with their next answer, and resolves when all have been answered. */
  close(): Promise<void>;
}

/** The API server waits no longer than this for an answer. */
const ANSWER_LIMIT_MS = 10_000;
/**
 * A server that closes goes on answering until nobody has asked for so long, and gives a connection up with each answer.
 * Ended at once, connections would take reviews with them that are on their way. API servers take the connection that they
 * used last, so the oldest of some 25 are asked on only when many ask at once.
 */
const LAST_CALL_MS = 2000;
/** Within the 30 s that pods are given to end, with the lease and the ledgers to give back after it. */
const LAST_CALLS_MS = 12_000;
/**
 * For head and body together. A second longer than API servers wait: where this process itself stood still, Node would
 * answer 408 to a request that it has only not read yet, and an eviction would be told of that.
 */
const REQUEST_LIMIT_MS = ANSWER_LIMIT_MS + 1000;
/**
 * API servers give up a connection that they have not used for 90 s. If it were ended here before, a review that is sent
 * in that moment would be lost, and its eviction be told 500.
 */
const IDLE_LIMIT_MS = 120_000;
const CHECKS_PER_LIMIT = 10;
const LIMITS = { keepAliveTimeout: IDLE_LIMIT_MS, maxHeaderSize: 16_384, handshakeTimeout: 5000 };
/** A body that nobody reads is thrown away for so long, so that its sender gets to see the answer. */
const LINGER_MS = 500;
/** The API server gives a webhook ten seconds unless its URL says otherwise; some of them are for the way. */
const USUAL_TIMEOUT_MS = 10_000;
const WAY_MS = 1000;
const LONGEST_REVIEW_MS = 8000;
/** For the last answers of a process that ends: its successor waits for nothing else. */
const LAST_ANSWERS_MS = 1000;

/**
 * Answers AdmissionReviews over TLS, of those it believes. Whatever a handler throws, and whatever it takes too long for,
 * is answered without a grant; the process lives.
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { callers, certificate, clock = systemClock, host, port, requestLimitMs = REQUEST_LIMIT_MS } = options;
  let closing = false;
  let askedMs = Number.NEGATIVE_INFINITY;
  const asksForCertificates = callers.authority !== undefined;
  const secure = (pair: KeyPair) => ({
    cert: pair.certificate,
    key: pair.key,
    ...(asksForCertificates ? { ca: callers.authority } : {}),
  });
  const loop = watchEventLoop(clock);
  const intake = new Intake();
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const underWay = new Set<Promise<void>>();
  const server = createServer(
    // Probes come without a certificate: who shows none is let in, and is answered nothing else.
    {
      ...secure(certificate),
      ...LIMITS,
      headersTimeout: requestLimitMs,
      requestTimeout: requestLimitMs,
      connectionsCheckingInterval: requestLimitMs / CHECKS_PER_LIMIT,
      requestCert: asksForCertificates,
      rejectUnauthorized: false,
    },
    (request, response) => {
      askedMs = clock.elapsed();
      // API servers keep connections and use them for as long as they are answered on.
      if (closing) response.setHeader('connection', 'close');
      const answered = new Promise<void>((resolve) => response.once('close', resolve));
      underWay.add(answered);
      void answered.then(() => underWay.delete(answered));
      const serving = { ...options, intake, loop, over: over.signal, proven: connections.prove };
      serve(serving, request, response).catch((error: unknown) => {
        options.log.warn({ error: messageOf(error) }, 'answering a webhook request failed');
        response.destroy();
      });
    },
  );
  const connections = boundConnections(server);
  server.on('clientError', endConnection);
  if (asksForCertificates) {
    server.on('secureConnection', (socket) => {
      const shown = Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
      if (shown && !socket.authorized) socket.destroy();
    });
  }
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    get bodyBytes() {
      return intake.bytes;
    },
    setCertificate: (pair) => server.setSecureContext(secure(pair)),
    async decideNoMore(why) {
      over.abort(new Error(why));
      await Promise.race([Promise.all(underWay), sleep(clock, LAST_ANSWERS_MS)]);
    },
    async close() {
      closing = true;
      // That of HTTP servers would end idle connections as well.
      TlsServer.prototype.close.call(server);
      const until = clock.elapsed() + LAST_CALLS_MS;
      const none = connections.whenNone().then(() => true);
      const lastCall = (): number => Math.min(askedMs + LAST_CALL_MS, until) - clock.elapsed();
      for (let left = lastCall(); left > 0; left = lastCall()) {
        if (await Promise.race([none, sleep(clock, left)])) break;
        await readWhatCame();
      }
      await endServer(server);
      loop.stop();
    },
  };
}

/**
 * Timers run before reads: where this process stood still, reviews may have come that nobody has read yet. One turn of the
 * event loop reads them, the second what decrypting them led to.
 */
async function readWhatCame(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function endServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), ANSWER_LIMIT_MS);
    server.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
    server.close();
  });
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/**
 * Ends a connection that sent no proper request, or not in time. Node counts the time of one that has sent nothing yet
 * as well; but API servers open connections ahead and use them later, and what they send may lie there unread.
 */
function endConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as TLSSocket).bytesRead === 0) {
    (socket as TLSSocket).setTimeout(IDLE_LIMIT_MS, () => socket.destroy());
    return;
  }
  const status = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request';
  if (socket.writable && error.code !== 'ECONNRESET') socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  socket.destroy();
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

interface Serving extends WebhookServerOptions {
  readonly intake: Intake;
  readonly loop: ProbeCheck;
  /** Aborted when this process decides no more. */
  readonly over: AbortSignal;
  /** Marks a connection as one of somebody who is believed. */
  readonly proven: (socket: Socket) => void;
}

async function serve(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { callers, checks, handlers, intake, loop, rejected } = serving;
  const url = request.url ?? '/';
  const cut = url.indexOf('?');
  const query = new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1));
  const whole = cut < 0 ? url : url.slice(0, cut);
  const probed = probeChecks(whole, { checks, loop });
  if (probed !== undefined) {
    const { status, text } = answerProbe(probed, { verbose: query.has('verbose') });
    return turnAway(request, response, status, text);
  }
  const socket = request.socket as TLSSocket;
  const { path, token } = splitToken(whole);
  if (!(await callers.believes(socket, token))) {
    rejected?.('NotBelieved');
    return turnAway(request, response, 404, 'not found');
  }
  serving.proven(socket);
  const handler = handlers.get(path);
  if (handler === undefined) return turnAway(request, response, 404, 'no webhook is served at this path');
  if (request.method !== 'POST') return turnAway(request, response, 405, 'reviews are sent by POST');
  const traits = traitsOf(path);
  const why = undecidable(checks);
  // Others are left to the failure policy of their webhook, which is better than a guess.
  if (why !== undefined && !traits.isAlwaysAnswered) {
    rejected?.('NotReady');
    return turnAway(request, response, 503, why);
  }
  try {
    await intake.take(request, traits, async (text) => {
      const review = parseReview(text);
      const limitMs = reviewLimit(query.get('timeout'));
      const verdict =
        why === undefined
          ? await decide(serving, { handler, limitMs, path, response, review, traits })
          : traits.undecided(`Quorate cannot decide now, try again: ${why}`, review);
      const body = formatReview(review.uid, verdict);
      // Of known length, head and body go out as one.
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  } catch (error) {
    if (error instanceof RejectedBody) {
      rejected?.(error.reason);
      return turnAway(request, response, error.status, error.message);
    }
    if (!(error instanceof ReviewFormatError)) throw error;
    rejected?.('Malformed');
    turnAway(request, response, 400, error.message);
  }
}

function probeChecks(
  path: string,
  { checks, loop }: { checks: readonly ProbeCheck[]; loop: ProbeCheck },
): readonly ProbeCheck[] | undefined {
  switch (path) {
    // Whoever answers has its certificate and its ports.
    case '/startupz':
      return [];
    case '/livez':
    case '/healthz':
      return [loop];
    case '/readyz':
      return checks;
    default:
      return undefined;
  }
}

/** Answers what is not read; the rest of the request is thrown away for a moment, and the connection then closed. */
function turnAway(request: IncomingMessage, response: ServerResponse, code: number, text: string): void {
  response.statusCode = code;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
  if (request.complete || request.method === 'GET') return;
  const cut = setTimeout(() => request.socket.destroy(), LINGER_MS);
  request.once('end', () => clearTimeout(cut));
}

/** How long a decision may take, by the timeout that the API server puts into the URL. */
function reviewLimit(timeout: string | null): number {
  const [, minutes = '0', seconds = ''] = /^(?:(\d+)m)?(\d+(?:\.\d+)?)s$/.exec(timeout ?? '') ?? [];
  const givenMs = seconds === '' ? USUAL_TIMEOUT_MS : (Number(minutes) * 60 + Number(seconds)) * 1000;
  return Math.min(Math.max(givenMs - WAY_MS, givenMs / 2), LONGEST_REVIEW_MS);
}

interface Question {
  readonly handler: ReviewHandler;
  readonly review: ReviewRequest;
  readonly traits: ReviewTraits;
  readonly path: string;
  readonly limitMs: number;
  readonly response: ServerResponse;
}

/** The handler's answer, or the one of a handler that could not decide, in time whatever happens. */
async function decide(
  { clock = systemClock, log, over }: Serving,
  { handler, limitMs, path, response, review, traits }: Question,
): Promise<ReviewResponse> {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the API server no longer waits'));
  });
  const failed = (error: unknown): ReviewResponse => {
    const { name, namespace } = review;
    const message = messageOf(error);
    log.error({ path, namespace, name, error: message }, 'a review could not be decided');
    return traits.undecided(`Quorate could not decide: ${message}`, review);
  };
  return new Promise((resolve) => {
    const giveUp = (why: Error): void => {
      abort.abort(why);
      resolve(failed(why));
    };
    if (over.aborted) return giveUp(over.reason as Error);
    const cancel = clock.after(limitMs, () => giveUp(new Error(`no decision within ${limitMs / 1000} s`)));
    const end = (): void => giveUp(over.reason as Error);
    over.addEventListener('abort', end);
    // A handler may also throw before it returns its promise.
    void Promise.resolve()
      .then(() => handler(review, abort.signal))
      .catch((error: unknown) => (abort.signal.aborted ? traits.undecided('too late', review) : failed(error)))
      .then(resolve)
      .finally(() => {
        cancel();
        over.removeEventListener('abort', end);
      });
  });
}

/** Of whatever was thrown; not everything can be made into text. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : 'for a reason that nobody gave';
}
