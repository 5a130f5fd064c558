/** One request under way: its deadline, its abort signal, and its answer, whole or as a stream. */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { gatherChunks } from './gathered-chunks.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** A request that had no answer in time; what became of it is not known. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
  readonly code = 'ETIMEDOUT';

  constructor({ deadlineMs = 0, method, path }: TransportRequest) {
    super(`no answer from the API server within ${deadlineMs / 1000} s (${method} ${path.split('?')[0]})`);
  }
}

/**
 * A request that ends early takes its connection with it: whatever still came on it would be taken for the answer to the
 * next. So a server that accepts and never answers cannot use the connections up.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #headers: Record<string, string> = {};
  #stream: Readable | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended: Error | undefined;
  #resolve: (response: TransportResponse) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(request: TransportRequest) {
    const { deadlineMs, signal } = request;
    this.#request = request;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (deadlineMs !== undefined) this.#timer = setTimeout(this.#onDeadline, deadlineMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** It may have ended while it waited for a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended !== undefined) controller.abort(this.#ended);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
    if (this.#request.whole === true) return;
    clearTimeout(this.#timer);
    const stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        controller.abort(error ?? new Error('nobody reads the answer any more'));
        done(error);
      },
    });
    this.#stream = stream;
    const { gatherMs } = this.#request;
    this.#answer(gatherMs === undefined ? stream : gatherChunks(stream, gatherMs));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream === undefined) this.#chunks.push(chunk);
    else if (!this.#stream.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#over();
    if (this.#stream !== undefined) this.#stream.push(null);
    else this.#answer(this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#over();
    if (this.#stream === undefined) this.#reject(error);
    else this.#stream.destroy(error);
  }

  readonly #onDeadline = (): void => this.#end(new DeadlineError(this.#request));

  readonly #onAbort = (): void => {
    const reason: unknown = this.#request.signal?.reason;
    this.#end(reason instanceof Error ? reason : new Error('aborted'));
  };

  #end(error: Error): void {
    this.#ended = error;
    this.#controller?.abort(error);
    // A request that still waits for a connection is not told until it gets one.
    this.onResponseError(undefined as never, error);
  }

  #answer(body: TransportResponse['body']): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  #over(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
  }
}

function flatten(headers: Headers): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
