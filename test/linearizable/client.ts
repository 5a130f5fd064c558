/**
 * Requests over connections that are kept, by HTTP/1.1 or HTTP/2. Nothing is ever sent twice: a request that got no
 * answer may have been carried out.
 */
import http2 from 'node:http2';
import https from 'node:https';
import type { Access } from '../attacks/harness/index.ts';

export interface Reply {
  readonly status: number;
  readonly object: ReplyObject;
}

/** What of an answer is looked at. */
export interface ReplyObject {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string } & Readonly<
    Record<string, unknown>
  >;
  readonly details?: { readonly causes?: readonly { readonly reason?: string }[] };
  readonly items?: readonly ReplyObject[];
  readonly [key: string]: unknown;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
}

export interface Connection {
  /** Undefined where no answer came; 'never sent' where it is sure that the server did not get it. */
  ask(question: Question): Promise<Reply | 'never sent' | undefined>;
  close(): void;
}

/** Undefined where the server died within its answer. */
function parse(status: number, text: string): Reply | undefined {
  try {
    return { status, object: JSON.parse(text) as ReplyObject };
  } catch {
    return undefined;
  }
}

export function http1Connection({ ca, cert, host, key, port }: Access): Connection {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: ({ body, method, path, type = 'application/json' }) =>
      new Promise((resolve) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        // Of the body of a DELETE Node tells no length by itself: the server would not see it.
        const headers = text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) };
        const call = https.request({ host, port, ca, cert, key, agent, method, path, headers }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', () => resolve(undefined));
          response.on('end', () => {
            const whole = Buffer.concat(parts).toString('utf8');
            resolve(response.complete ? parse(response.statusCode ?? 0, whole) : undefined);
          });
        });
        call.on('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code === 'ECONNREFUSED' ? 'never sent' : undefined),
        );
        call.end(text);
      }),
    close: () => agent.destroy(),
  };
}

export function http2Connection({ ca, cert, host, key, port }: Access): Connection {
  let session: http2.ClientHttp2Session | undefined;
  const open = (): http2.ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    session = http2.connect(`https://${host}:${port}`, { ca, cert, key });
    session.on('error', () => {});
    return session;
  };
  return {
    ask: ({ body, method, path, type = 'application/json' }) =>
      new Promise((resolve) => {
        const headers = { ':method': method, ':path': path, ...(body !== undefined && { 'content-type': type }) };
        const stream = open().request(headers, { endStream: body === undefined });
        const parts: Buffer[] = [];
        let status = 0;
        stream.on('response', (head) => (status = Number(head[':status'])));
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('error', () => resolve(undefined));
        stream.on('close', () => resolve(undefined));
        stream.on('end', () => resolve(parse(status, Buffer.concat(parts).toString('utf8'))));
        if (body !== undefined) stream.end(JSON.stringify(body));
      }),
    close: () => session?.destroy(),
  };
}

/** One watch: `line` gets every whole line, in order; resolves to the status when the stream ends, 0 where none came. */
export function watchLines(
  { ca, cert, host, key, port }: Access,
  { line, path, signal }: { path: string; signal: AbortSignal; line: (text: string) => void },
): Promise<number> {
  return new Promise((resolve) => {
    let status = 0;
    let rest = '';
    const call = https.get({ host, port, ca, cert, key, path, agent: false, signal }, (response) => {
      status = response.statusCode ?? 0;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() as string;
        for (const one of lines) line(one);
      });
      response.on('error', () => resolve(status));
      response.on('close', () => resolve(status));
    });
    call.on('error', () => resolve(status));
    call.on('close', () => resolve(status));
  });
}
