/** One request over a connection of its own, by HTTP/1.1 or HTTP/2, as the administrator, as nobody or with a token. */
import http2 from 'node:http2';
import https from 'node:https';
import type { Access } from './server.ts';

export type Identity = 'administrator' | 'nobody' | { readonly token: string };

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  readonly as?: Identity;
  readonly http?: 1 | 2;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export function send(access: Access, request: Sent): Promise<Answer> {
  return request.http === 2 ? sendHttp2(access, request) : sendHttp1(access, request);
}

function headersOf({ as = 'administrator', body, headers }: Sent): Record<string, string | string[]> {
  return {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(typeof as === 'object' && { authorization: `Bearer ${as.token}` }),
    ...headers,
  };
}

const identityOf = ({ ca, cert, key }: Access, as: Identity = 'administrator') =>
  as === 'administrator' ? { ca, cert, key } : { ca };

function sendHttp1(access: Access, request: Sent): Promise<Answer> {
  const { body, method, path } = request;
  const { host, port } = access;
  return new Promise((resolve, reject) => {
    const call = https.request(
      {
        host,
        port,
        method,
        path,
        agent: false,
        ...identityOf(access, request.as),
        headers: headersOf(request),
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

function sendHttp2(access: Access, request: Sent): Promise<Answer> {
  const { body, method, path } = request;
  const session = http2.connect(`https://${access.host}:${access.port}`, identityOf(access, request.as));
  return new Promise<Answer>((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request(
      { ':method': method, ':path': path, ...headersOf(request) },
      { endStream: body === undefined },
    );
    const parts: Buffer[] = [];
    let head: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    stream.on('response', (headers) => (head = headers));
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', reject);
    stream.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      resolve({ status: head[':status'] ?? 0, headers: head, text });
    });
    if (body !== undefined) stream.end(body);
  }).finally(() => session.close());
}
