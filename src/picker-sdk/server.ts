import { createHash, timingSafeEqual } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Pick, PickRequest } from './types.ts';

export interface PodPickerOptions {
  /**
   * The value callers must send, and the header they send it in (`Authorization` unless said otherwise). Give it as a
   * function to read it anew for each call, so that a rotated secret counts at once. Without it anyone may ask.
   */
  readonly auth?: { readonly value: string | (() => string); readonly header?: string } | undefined;
  /** Largest request read, in bytes. Default 4 MiB. */
  readonly maxRequestBytes?: number | undefined;
  /** Told about failures of `pick`; the caller only sees a status of 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string | undefined;
  /** PEM certificate and key: serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

export interface ListeningPicker {
  readonly port: number;
  close(): Promise<void>;
}

export interface PodPicker {
  /** For a server of your own. Answers POST on any path. */
  readonly handler: RequestListener;
  listen(options: ListenOptions): Promise<ListeningPicker>;
}

/** Serves a function as a pod picker. */
export function createPodPicker(pick: Pick, options: PodPickerOptions = {}): PodPicker {
  const handler: RequestListener = (request, response) => {
    void answer(pick, options, { request, response });
  };
  return { handler, listen: (listenOptions) => listen(handler, listenOptions) };
}

async function answer(
  pick: Pick,
  options: PodPickerOptions,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { auth, maxRequestBytes = 4 * 1024 * 1024, onError } = options;
  if (auth !== undefined && !isAuthentic(request, auth)) return refuse(response, 401, 'the caller is not known');
  if (request.method !== 'POST') return refuse(response, 405, 'only POST is answered');
  const body = await readBody(request, maxRequestBytes);
  if (body === undefined) return refuse(response, 413, 'the request is too large');
  const question = parseRequest(request, body);
  if (question === undefined) return refuse(response, 400, 'the request is not a question about pods');
  try {
    const { chosen = [], tied = [] } = await pick(question);
    send(response, 200, { chosen_pods: chosen, tied_pods: tied });
  } catch (error) {
    onError?.(error);
    refuse(response, 500, 'the picker failed');
  }
}

/** Compares digests, so that neither content nor length of the secret shows in the time it takes. */
function isAuthentic({ headers }: IncomingMessage, auth: NonNullable<PodPickerOptions['auth']>): boolean {
  const sent = headers[(auth.header ?? 'authorization').toLowerCase()];
  const wanted = typeof auth.value === 'function' ? auth.value() : auth.value;
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

function parseRequest({ headers, url = '/' }: IncomingMessage, body: string): PickRequest | undefined {
  try {
    const { candidate_pods: candidates, number_of_pods_requested: count } = JSON.parse(body) as Record<string, unknown>;
    if (!Array.isArray(candidates) || !candidates.every((name) => typeof name === 'string')) return undefined;
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0) return undefined;
    return { candidates, count, url, headers };
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: message });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listen(handler: RequestListener, { host, port, tls }: ListenOptions): Promise<ListeningPicker> {
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
