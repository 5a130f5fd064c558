/** A client transport that calls the server directly: everything but the socket happens. */
import type { SharedEvent, Transport, TransportResponse } from '../../machinery/runtime/index.ts';
import {
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  IncomingRequest,
  type StreamBody,
} from '../exchange/exchange.ts';
import type { UserInfo } from '../exchange/user.ts';

export const systemAdmin: UserInfo = { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

const NOTHING = new Uint8Array();

export function inProcessTransport(handle: ApiHandler, user: UserInfo = systemAdmin): Transport {
  const peer = { user };
  return async ({ method, path, headers = {}, body, signal, shared = false }) => {
    signal?.throwIfAborted();
    const lower: Record<string, string> = {};
    for (const name in headers) lower[name.toLowerCase()] = headers[name] as string;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    const request = new IncomingRequest({ method, url: path, headers: lower, body: bytes, peer, shared }, () => {
      signal ??= new AbortController().signal;
      return signal;
    });
    return toTransport(await handle(request), request, shared);
  };
}

function toTransport(response: ApiResponse, request: Pick<ApiRequest, 'signal'>, shared: boolean): TransportResponse {
  const { status, headers, body, document } = response;
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name] ?? '';
    flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  if (document !== undefined) return { status, headers: flat, body: NOTHING, document };
  if (typeof body === 'function') {
    const { signal } = request;
    return shared
      ? { status, headers: flat, body: NOTHING, events: streamed<readonly SharedEvent[]>(body, signal, 'events') }
      : { status, headers: flat, body: streamed<Uint8Array>(body, signal, 'write') };
  }
  return { status, headers: flat, body: body instanceof Uint8Array ? body : Buffer.concat(body as Uint8Array[]) };
}

/** Chunks of 64 KB, or batches of events, that a reader may be behind before the sender waits. */
const QUEUE_CHUNKS = 16;

/** The stream as chunks or batches to iterate; starts at once, so nothing is missed before the first read. */
function streamed<T>(start: StreamBody, signal: AbortSignal, form: 'write' | 'events'): AsyncIterable<T> {
  const queue: T[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  let drained: (() => void) | undefined;
  const take = (chunk: unknown): void => {
    queue.push(chunk as T);
    notify();
  };
  const stop = start({
    write: take,
    events: form === 'events' ? take : undefined,
    ready() {
      if (ended || queue.length < QUEUE_CHUNKS) return undefined;
      return new Promise((resolve) => {
        drained = resolve;
      });
    },
    end() {
      ended = true;
      notify();
    },
  });
  const abort = (): void => {
    ended = true;
    stop();
    drained?.();
    notify();
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });

  async function* chunks(): AsyncGenerator<T> {
    try {
      for (;;) {
        const chunk = queue.shift();
        if (queue.length === 0) drained?.();
        if (chunk !== undefined) yield chunk;
        else if (ended) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      ended = true;
      stop();
      drained?.();
      signal.removeEventListener('abort', abort);
    }
  }
  return chunks();
}
