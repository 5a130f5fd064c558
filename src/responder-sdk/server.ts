import { createHash, timingSafeEqual } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readCall } from './read-notice.ts';
import type { Notice, Prepare } from './types.ts';

export interface ResponderOptions {
  /**
   * The value callers must send, and the header they send it in (`Authorization` unless said otherwise). Give it as a
   * function to read it anew for each call, so that a rotated secret counts at once. Without it anyone may tell.
   */
  readonly auth?: { readonly value: string | (() => string); readonly header?: string } | undefined;
  /** Told about failures of `prepare`; the caller only sees a status of 500, and calls again. */
  readonly onError?: ((error: unknown, notice: Notice) => void) | undefined;
}

export interface ResponderListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string | undefined;
  /** PEM certificate and key: serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

export interface ListeningResponder {
  readonly port: number;
  close(): Promise<void>;
}

export interface Responder {
  /** For a server of your own. Answers POST on any path. */
  readonly handler: RequestListener;
  listen(options: ResponderListenOptions): Promise<ListeningResponder>;
}

/** How far the work for one notice is. */
interface Job {
  readonly stop: AbortController;
  state: 'Working' | 'Done' | 'Failed';
  message: string | undefined;
  expectedAt: Date | undefined;
}

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/** Notices that are remembered, the oldest are forgotten. */
const MAX_JOBS = 1000;

/**
 * Serves a function that prepares a group for its end. The call that begins it is answered at once; it is asked again
 * until the work is done, and the same notice never begins it twice.
 */
export function createResponder(prepare: Prepare, options: ResponderOptions = {}): Responder {
  const jobs = new Map<string, Job>();
  const handler: RequestListener = (request, response) => {
    void answer({ prepare, options, jobs }, request, response);
  };
  return { handler, listen: (listenOptions) => listen(handler, listenOptions) };
}

interface Serving {
  readonly prepare: Prepare;
  readonly options: ResponderOptions;
  readonly jobs: Map<string, Job>;
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { jobs, options } = serving;
  if (options.auth !== undefined && !isAuthentic(request, options.auth)) {
    return send(response, 401, { error: 'the caller is not known' });
  }
  if (request.method !== 'POST') return send(response, 405, { error: 'only POST is answered' });
  const body = await readBody(request);
  if (body === undefined) return send(response, 413, { error: 'the request is too large' });
  const call = readCall(body);
  if (call === undefined) return send(response, 400, { error: 'the request is no notice' });
  const key = `${call.notice.id}/${call.notice.member?.uid ?? ''}`;
  if (call.action === 'Withdraw') {
    jobs.get(key)?.stop.abort();
    jobs.delete(key);
    return send(response, 200, { state: 'Withdrawn' });
  }
  const known = jobs.get(key);
  const job = known === undefined || known.state === 'Failed' ? begin(serving, key, call.notice) : known;
  // A failure is told once; the next call begins anew.
  if (known?.state === 'Failed') return send(response, 500, { error: 'the preparation failed, it is begun again' });
  await turn();
  if (job.state === 'Done') return send(response, 200, { state: 'Acknowledged' });
  const { expectedAt, message } = job;
  return send(response, 200, {
    state: 'Working',
    ...(message !== undefined && { message }),
    ...(expectedAt !== undefined && { expectedAt: expectedAt.toISOString() }),
  });
}

/** Lets work that is done at once be done. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function begin({ jobs, options, prepare }: Serving, key: string, notice: Notice): Job {
  const job: Job = { stop: new AbortController(), state: 'Working', message: undefined, expectedAt: undefined };
  jobs.set(key, job);
  for (const oldest of jobs.keys()) {
    if (jobs.size <= MAX_JOBS) break;
    jobs.delete(oldest);
  }
  const progress = (message: string, expectedAt?: Date): void => {
    job.message = message;
    job.expectedAt = expectedAt;
  };
  const work = async (): Promise<void> => prepare(notice, { signal: job.stop.signal, progress });
  work().then(
    () => {
      job.state = 'Done';
    },
    (error: unknown) => {
      job.state = 'Failed';
      if (!job.stop.signal.aborted) options.onError?.(error, notice);
    },
  );
  return job;
}

/** Compares digests, so that neither content nor length of the secret shows in the time it takes. */
function isAuthentic({ headers }: IncomingMessage, auth: NonNullable<ResponderOptions['auth']>): boolean {
  const sent = headers[(auth.header ?? 'authorization').toLowerCase()];
  const wanted = typeof auth.value === 'function' ? auth.value() : auth.value;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(wanted));
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listen(
  handler: RequestListener,
  { host, port, tls }: ResponderListenOptions,
): Promise<ListeningResponder> {
  const server = tls === undefined ? createHttpServer(handler) : createHttpsServer({ ...tls }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
