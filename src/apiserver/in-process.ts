/** A client transport that calls the server directly: everything but the socket happens. */
import type { Transport, TransportResponse } from '../machinery/runtime/index.ts';
import type { ApiHandler, ApiResponse, StreamBody } from './exchange.ts';
import type { UserInfo } from './user.ts';

export const systemAdmin: UserInfo = { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

export function inProcessTransport(handle: ApiHandler, user: UserInfo = systemAdmin): Transport {
  return async ({ method, path, headers = {}, body, signal }) => {
    signal?.throwIfAborted();
    const lower: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value;
    const abort = signal ?? new AbortController().signal;
    const response = await handle({
      method,
      url: path,
      headers: lower,
      body: typeof body === 'string' ? Buffer.from(body, 'utf8') : body,
      signal: abort,
      peer: { user },
    });
    return toTransport(response, abort);
  };
}

function toTransport({ status, headers, body }: ApiResponse, signal: AbortSignal): TransportResponse {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    flat[name] = typeof value === 'string' ? value : value.join(', ');
  if (typeof body === 'function') return { status, headers: flat, body: streamChunks(body, signal) };
  return { status, headers: flat, body: body instanceof Uint8Array ? body : Buffer.concat(body as Uint8Array[]) };
}

/** Chunks of 64 KB a reader may be behind before the sender waits. */
const QUEUE_CHUNKS = 16;

/** The stream as chunks to iterate; starts at once, so nothing is missed before the first read. */
function streamChunks(start: StreamBody, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const queue: Uint8Array[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  let drained: (() => void) | undefined;
  const stop = start({
    write(chunk) {
      queue.push(chunk);
      notify();
    },
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

  async function* chunks(): AsyncGenerator<Uint8Array> {
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
