import { lookup } from 'node:dns/promises';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { HTTPPodPicker } from '../../../api/generated/apps-v1.ts';
import type { PickerAnswer } from '../../../decisions/downscale/index.ts';
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
  const { addresses, client, extraCertificates, resolve = systemResolve } = options;
  const ca = extraCertificates === undefined ? undefined : [...rootCertificates, extraCertificates];
  return {
    speaks: ({ http }) => http !== undefined,
    async open({ namespace, picker, question }, signal) {
      const http = picker.http as HTTPPodPicker;
      const configured = await readHeaders(http.httpHeaders ?? [], { client, namespace });
      const address = await resolveChecked(http.host, { resolve, addresses });
      const body = Buffer.from(
        JSON.stringify({ number_of_pods_requested: question.count, candidate_pods: question.candidates }),
      );
      signal.throwIfAborted();
      const secure = http.scheme?.toUpperCase() === 'HTTPS';
      const target: RequestOptions = {
        method: 'POST',
        host: address,
        port: Number(http.port),
        path: http.path ?? '/',
        headers: requestHeaders(http, { configured, length: body.length }),
        maxHeaderSize: MAX_HEADER_BYTES,
        agent: false,
        ...(secure
          ? { servername: isIP(http.host) === 0 ? http.host : '', minVersion: 'TLSv1.2', rejectUnauthorized: true, ca }
          : {}),
      };
      return {
        attempt: (attemptSignal) => post(secure ? httpsRequest : httpRequest, { target, body, signal: attemptSignal }),
      };
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

/** Repeated names become repeated header lines, ours first. */
function requestHeaders(
  { host, port }: HTTPPodPicker,
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
}

function post(send: typeof httpRequest, { body, signal, target }: Post): Promise<PickerAnswer> {
  return new Promise((resolve, reject) => {
    const request = send({ ...target, signal }, (response) => {
      readAnswer(response)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.on('error', () => reject(new PickerError('ConnectionFailed')));
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<PickerAnswer> {
  const { headers, statusCode: status = 0 } = response;
  if (status === 408 || status === 425 || status === 429 || status >= 500) throw new PickerError('ServerError', status);
  if (status >= 400) throw new PickerError('Refused', status);
  if (status >= 300) throw new PickerError('Redirected', status);
  if (status < 200) throw new PickerError('ConnectionFailed', status);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new PickerError('MalformedAnswer', status);
  if (Number(headers['content-length'] ?? 0) > MAX_ANSWER_BYTES) throw new PickerError('AnswerTooLarge', status);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) throw new PickerError('AnswerTooLarge', status);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof PickerError ? error : new PickerError('ConnectionFailed', status);
  }
  return parseAnswer(Buffer.concat(chunks));
}
