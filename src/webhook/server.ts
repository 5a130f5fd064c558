import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from '../machinery/runtime/certificates.ts';
import type { Logger } from '../machinery/runtime/index.ts';
import { formatReview, parseReview, ReviewFormatError, type ReviewRequest, type ReviewResponse } from './review.ts';

export type ReviewHandler = (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewResponse>;

export interface WebhookServerOptions {
  readonly certificate: KeyPair;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Logger;
  /** By path, such as `/validate-eviction`. */
  readonly handlers: ReadonlyMap<string, ReviewHandler>;
  /** True once every cache the handlers decide on is filled. */
  readonly isReady: () => boolean;
}

export interface WebhookServer {
  readonly port: number;
  /** Puts a renewed certificate in use without dropping connections. */
  setCertificate(pair: KeyPair): void;
  /** Takes no new requests and resolves when those under way have been answered. */
  close(): Promise<void>;
}

/** The API server waits no longer than this for an answer. */
const CLOSE_LIMIT_MS = 10_000;
/** An object is at most 3 MiB, and a review carries two. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Answers AdmissionReviews over TLS. A handler that throws refuses the request: what could not be decided is not granted. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { certificate, host, port } = options;
  let closing = false;
  const server = createServer({ cert: certificate.certificate, key: certificate.key }, (request, response) => {
    // API servers keep connections and use them for as long as they are answered on.
    if (closing) response.setHeader('connection', 'close');
    serve(options, request, response).catch((error: unknown) => {
      options.log.error({ path: request.url, error: String(error) }, 'answering a webhook request failed');
      response.destroy();
    });
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: (pair) => server.setSecureContext({ cert: pair.certificate, key: pair.key }),
    close: () =>
      new Promise((resolve) => {
        closing = true;
        const limit = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
        server.close(() => {
          clearTimeout(limit);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
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

async function serve(
  { handlers, isReady, log }: WebhookServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  if (path === '/healthz') return answer(response, 200, 'ok');
  if (path === '/readyz')
    return isReady() ? answer(response, 200, 'ok') : answer(response, 503, 'caches are not filled yet');
  const handler = handlers.get(path);
  if (handler === undefined) return answer(response, 404, 'no webhook is served at this path');
  if (request.method !== 'POST') return answer(response, 405, 'reviews are sent by POST');
  // The API server tries again or applies its failure policy; both are better than a guess.
  if (!isReady()) return answer(response, 503, 'caches are not filled yet');
  const text = await readBody(request);
  if (text === undefined) return answer(response, 413, 'the review is too large');
  let review: ReviewRequest;
  try {
    review = parseReview(text);
  } catch (error) {
    if (error instanceof ReviewFormatError) return answer(response, 400, error.message);
    throw error;
  }
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the API server no longer waits'));
  });
  let verdict: ReviewResponse;
  try {
    verdict = await handler(review, abort.signal);
  } catch (error) {
    log.error(
      { path, namespace: review.namespace, name: review.name, error: String(error) },
      'a review could not be decided',
    );
    const message = `Quorate could not decide: ${error instanceof Error ? error.message : String(error)}`;
    verdict = { allowed: false, status: { status: 'Failure', code: 500, reason: 'InternalError', message } };
  }
  const body = formatReview(review.uid, verdict);
  // Of known length, head and body go out as one.
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function answer(response: ServerResponse, code: number, text: string): void {
  response.statusCode = code;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}

/** Undefined where it is too large. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else {
        request.pause();
        resolve(undefined);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(new Error('the API server hung up'));
    });
  });
}
