/** One exchange over a connection, the same for HTTP/1.1 and HTTP/2. Nothing that happens in it leaves it. */
import type { Logger } from '../../machinery/runtime/index.ts';
import { type ApiHandler, type ApiResponse, IncomingRequest } from '../exchange/exchange.ts';
import { answerFailure } from '../response/failed-exchange.ts';
import { errorResponse } from '../response/respond.ts';
import { type ApiError, badRequest, failure, timeout } from '../exchange/status.ts';
import type { BodiesInFlight } from './bodies-in-flight.ts';
import { isWorthCompressing, sendCompressed } from './compress.ts';
import { Departure } from './departure.ts';
import type { HttpLimits } from './limits.ts';
import { readRequestBody } from './read-body.ts';
import { timeLimitMs } from './time-limit.ts';
import type { Wire } from './wire.ts';
import { wireHeaders, wireStatus } from './wire-headers.ts';
import { writeBlocks, writeStream } from './write-response.ts';

export interface Serving {
  readonly handle: ApiHandler;
  readonly limits: HttpLimits;
  readonly bodies: BodiesInFlight;
  readonly log: Logger;
}

/**
 * Serves the request that `open` finds on the line. Whatever throws on the way, the client gets a 500 Status, or the
 * line is cut where the head of another answer is already out. Never rejects.
 */
export async function serve(serving: Serving, open: () => Wire, cut: () => void): Promise<void> {
  let wire: Wire | undefined;
  try {
    wire = open();
    await exchange(serving, wire);
  } catch (error) {
    try {
      const response = answerFailure(error, wire ?? { method: '', url: '' }, serving.log);
      if (wire === undefined || wire.isHeadSent()) cut();
      else if (!wire.isGone()) await send(wire, response);
    } catch {
      cut();
    }
  }
}

async function exchange(serving: Serving, wire: Wire): Promise<void> {
  const gone = new Departure(wire.out);
  const response = await answer(serving, wire, gone);
  gone.settle();
  if (wire.isGone()) return;
  if (response.upgrade !== undefined && wire.takeOver !== undefined) response.upgrade(wire.takeOver());
  else await send(wire, response);
}

async function answer(serving: Serving, wire: Wire, gone: Departure): Promise<ApiResponse> {
  const { headers, method, peer, url } = wire;
  if (wire.headerCount > serving.limits.headers) {
    const message = `too many headers: the limit is ${serving.limits.headers}`;
    return errorResponse(failure(431, 'RequestHeaderFieldsTooLarge', message));
  }
  const limitMs = timeLimitMs(method, url);
  if (limitMs === undefined) {
    return errorResponse(badRequest('invalid timeout specified in the request URL: not a duration such as 30s'));
  }
  const body = bodyOf(serving, wire);
  const request = new IncomingRequest({ method, url, headers, body: undefined, peer }, () => gone.signal, body?.read);
  const answering = serving.handle(request);
  return within(limitMs, body === undefined ? answering : answering.finally(body.release));
}

/** The body, to be read when the server knows for whom; it counts for that user until the request is dealt with. */
function bodyOf({ bodies, limits }: Serving, wire: Wire) {
  const { incoming, method } = wire;
  if (incoming === undefined) return undefined;
  if (method === 'GET' || method === 'HEAD' || method === 'CONNECT') {
    // Nobody will read it, and what is not read is kept.
    incoming.resume();
    return undefined;
  }
  let user = '';
  let taken = 0;
  const take = (bytes: number): ApiError | undefined => {
    const refusal = bodies.take(user, bytes);
    if (refusal === undefined) taken += bytes;
    return refusal;
  };
  return {
    read: (by: string): Promise<Uint8Array | undefined> => {
      user = by;
      const refusal = take(limits.bytesPerBody);
      if (refusal !== undefined) return Promise.reject(refusal);
      return readRequestBody(incoming, lengthOf(wire.headers['content-length']), {
        maxBytes: limits.bodyBytes,
        begin: () => wire.proceed(),
        take,
      });
    },
    release: (): void => {
      if (taken > 0) bodies.give(user, taken);
      taken = 0;
    },
  };
}

const lengthOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

/** Opening a watch is quick like any request; only its stream lasts. */
function within(limitMs: number, answering: Promise<ApiResponse>): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => resolve(errorResponse(timeout('request did not complete within the allotted time'))),
      limitMs,
    );
    answering.then(
      (response) => {
        clearTimeout(timer);
        resolve(response);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}

async function send(wire: Wire, { body, headers: given, status }: ApiResponse): Promise<void> {
  const { out } = wire;
  const headers = wireHeaders(given);
  if (typeof body === 'function') {
    wire.sendHead(wireStatus(status), headers);
    if (wire.method === 'HEAD') out.end();
    else writeStream(out, body, () => wire.cut());
    return;
  }
  const chunks = body instanceof Uint8Array ? [body] : body;
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const unread = wire.incoming !== undefined && !wire.incoming.readableEnded;
  if (!unread && isWorthCompressing(wire, length, headers)) {
    await sendCompressed(wire, { status: wireStatus(status), headers, chunks });
    return;
  }
  headers['content-length'] = String(length);
  wire.sendHead(wireStatus(status), headers);
  const [only] = chunks;
  if (wire.method !== 'HEAD' && !unread && chunks.length === 1) {
    out.end(only);
    return;
  }
  if (wire.method !== 'HEAD') await writeBlocks(out, chunks);
  if (out.destroyed) return;
  if (unread) wire.endUnread();
  else out.end();
}
