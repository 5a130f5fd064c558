import { lookup } from 'node:dns/promises';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { HTTPPodPicker, HTTPPodPickerHeader } from '../../../api/generated/apps-v1.ts';
import type { Client } from '../../../machinery/runtime/index.ts';
import type { AddressPolicy } from './addresses.ts';
import { parseAnswer } from './answer.ts';
import { readHeaders } from './headers.ts';
import { PickerError, type PickerProtocol } from './protocol.ts';

export const MAX_ANSWER_BYTES = 1_048_576;
const MAX_HEADER_BYTES = 16_384;

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

export interface HttpProtocolOptions {
  readonly client: Client;
  readonly addresses: AddressPolicy;
  readonly resolve?: Resolve | undefined;
  /** PEM certificates trusted beside the system's roots. */
  readonly extraCertificates?: string | undefined;
}

/**
 * POSTs the question as JSON. The host is resolved once per conversation, every address is judged, and the connection
 * goes to one that was judged, so a name that later resolves elsewhere changes nothing. Redirects, proxies, cookies,
 * connection reuse and compressed answers do not exist here; HTTPS always verifies chain and name.
 */
export function createHttpProtocol(options: HttpProtocolOptions): PickerProtocol {
  return {
    speaks: ({ http }) => http !== undefined,
    async open({ namespace, picker, question }, signal) {
      const http = picker.http as HTTPPodPicker;
      const body = Buffer.from(
        JSON.stringify({ number_of_pods_requested: question.count, candidate_pods: question.candidates }),
      );
      const send = await openPost(
        {
          namespace,
          secure: http.scheme?.toUpperCase() === 'HTTPS',
          host: http.host,
          port: http.port,
          path: http.path ?? '/',
          headers: http.httpHeaders ?? [],
          body,
          maxAnswerBytes: MAX_ANSWER_BYTES,
        },
        options,
      );
      signal.throwIfAborted();
      return { attempt: async (attemptSignal) => parseAnswer((await send(attemptSignal)).body) };
    },
  };
}

async function resolveChecked(
  host: string,
  { addresses, resolve }: { addresses: AddressPolicy; resolve: Resolve },
): Promise<string> {
  let found: readonly string[];
  try {
    found = isIP(host) === 0 ? await resolve(host) : [host];
  } catch {
    throw new PickerError('ConnectionFailed');
  }
  const [first] = found;
  if (first === undefined) throw new PickerError('ConnectionFailed');
  if (!addresses.permits(host, found)) throw new PickerError('AddressForbidden');
  return first;
}

/** Where a body is sent. */
export interface PostTarget {
  readonly namespace: string;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number | string;
  readonly path: string;
  /** The name in the certificate. Default: the host. */
  readonly serverName?: string | undefined;
  readonly headers: readonly HTTPPodPickerHeader[];
  /** Header lines of our own beside the usual ones. */
  readonly lines?: readonly (readonly [string, string])[] | undefined;
  readonly body: Buffer;
  readonly maxAnswerBytes: number;
}

/** A 2xx with its body. */
export interface PostAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Reads secrets, resolves and judges the host, and returns what sends the body: each time to the address that was judged.
 * Rejects with a `PickerError`.
 */
export async function openPost(
  target: PostTarget,
  { addresses, client, extraCertificates, resolve = systemResolve }: HttpProtocolOptions,
): Promise<(signal: AbortSignal) => Promise<PostAnswer>> {
  const { body, host, namespace, path, port, secure, serverName = host } = target;
  const configured = await readHeaders(target.headers, { client, namespace });
  const address = await resolveChecked(host, { resolve, addresses });
  const ca = extraCertificates === undefined ? undefined : [...rootCertificates, extraCertificates];
  const options: RequestOptions = {
    method: 'POST',
    host: address,
    port: Number(port),
    path,
    headers: requestHeaders(
      { host, port },
      { configured: [...(target.lines ?? []), ...configured], length: body.length },
    ),
    maxHeaderSize: MAX_HEADER_BYTES,
    agent: false,
    ...(secure
      ? { servername: isIP(serverName) === 0 ? serverName : '', minVersion: 'TLSv1.2', rejectUnauthorized: true, ca }
      : {}),
  };
  const { maxAnswerBytes } = target;
  return (signal) => post(secure ? httpsRequest : httpRequest, { target: options, body, signal, maxAnswerBytes });
}

/** Repeated names become repeated header lines, ours first. */
function requestHeaders(
  { host, port }: Pick<PostTarget, 'host' | 'port'>,
  { configured, length }: { configured: readonly (readonly [string, string])[]; length: number },
): Record<string, string | string[]> {
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const lines: (readonly [string, string])[] = [
    ['Host', `${bracketed}:${port}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(length)],
    ['Accept', 'application/json'],
    ['Accept-Encoding', 'identity'],
    ['Connection', 'close'],
    ...configured,
  ];
  const byName = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of lines) {
    const known = byName.get(name.toLowerCase());
    if (known === undefined) byName.set(name.toLowerCase(), { name, values: [value] });
    else known.values.push(value);
  }
  return Object.fromEntries(
    [...byName.values()].map(({ name, values }) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
}

interface Post {
  readonly target: RequestOptions;
  readonly body: Buffer;
  readonly signal: AbortSignal;
  readonly maxAnswerBytes: number;
}

function post(send: typeof httpRequest, { body, maxAnswerBytes, signal, target }: Post): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const request = send({ ...target, signal }, (response) => {
      readAnswer(response, maxAnswerBytes)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.on('error', () => reject(new PickerError('ConnectionFailed')));
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<PostAnswer> {
  const { headers, statusCode: status = 0 } = response;
  if (status === 408 || status === 425 || status === 429 || status >= 500) throw new PickerError('ServerError', status);
  if (status >= 400) throw new PickerError('Refused', status);
  if (status >= 300) throw new PickerError('Redirected', status);
  if (status < 200) throw new PickerError('ConnectionFailed', status);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new PickerError('MalformedAnswer', status);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new PickerError('AnswerTooLarge', status);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new PickerError('AnswerTooLarge', status);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof PickerError ? error : new PickerError('ConnectionFailed', status);
  }
  return { status, body: Buffer.concat(chunks) };
}
