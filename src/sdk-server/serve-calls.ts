import { createHash, timingSafeEqual } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** The value callers must send, and the header they send it in (`Authorization` unless said otherwise). */
export interface CallerSecret {
  /** A function is asked anew for each call, so that a rotated secret counts at once. */
  readonly value: string | (() => string);
  readonly header?: string;
}

export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string | undefined;
  /** PEM certificate and key: serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface CallServer {
  /** For a server of your own. Answers POST on any path. */
  readonly handler: RequestListener;
  listen(options: ListenOptions): Promise<ListeningServer>;
}

export interface CallAnswer {
  readonly status: number;
  readonly body: object;
}

/** Answers the body of a call. What it throws reaches nobody: the caller sees a status of 500. */
export type AnswerCall = (body: string, request: IncomingMessage) => CallAnswer | Promise<CallAnswer>;

export interface CallServerOptions {
  readonly auth: CallerSecret | undefined;
  readonly maxRequestBytes: number;
  readonly answer: AnswerCall;
}

export function serveCalls(options: CallServerOptions): CallServer {
  const handler: RequestListener = (request, response) => {
    void receive(options, request)
      .catch(() => ({ status: 500, body: { error: 'the call failed' } }))
      .then((answer) => send(response, answer));
  };
  return { handler, listen: (listenOptions) => listen(handler, listenOptions) };
}

async function receive(
  { answer, auth, maxRequestBytes }: CallServerOptions,
  request: IncomingMessage,
): Promise<CallAnswer> {
  if (auth !== undefined && !isAuthentic(request, auth)) return refusal(401, 'the caller is not known');
  if (request.method !== 'POST') return refusal(405, 'only POST is answered');
  const body = await readBody(request, maxRequestBytes);
  if (body === undefined) return refusal(413, 'the request is too large');
  return answer(body, request);
}

const refusal = (status: number, error: string): CallAnswer => ({ status, body: { error } });

/** Compares digests, so that neither content nor length of the secret shows in the time it takes. */
function isAuthentic({ headers }: IncomingMessage, { header = 'authorization', value }: CallerSecret): boolean {
  const sent = headers[header.toLowerCase()];
  const wanted = typeof value === 'function' ? value() : value;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(wanted));
}

async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A caller that has gone meanwhile is told nothing. */
function send(response: ServerResponse, { body, status }: CallAnswer): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listen(handler: RequestListener, { host, port, tls }: ListenOptions): Promise<ListeningServer> {
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
