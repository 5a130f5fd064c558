/** Connections that are kept: HTTP/1.1 on a socket of our own, so that any head can be written, and HTTP/2. */
import { connect as connectHttp2, type ClientHttp2Session, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { FuzzRequest } from './requests.ts';

export interface Outcome {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly text: string;
}

export interface Lines {
  send(request: FuzzRequest, authorization: string | undefined): Promise<Outcome>;
  close(): void;
}

const TIMEOUT_MS = 60_000;
/** Beyond the longest head, warnings and all. */
const KEPT_TEXT = 10_000;

export function http1Lines(host: string, port: number): Lines {
  let socket: TLSSocket | undefined;
  let session: Buffer | undefined;
  // Taken up again: a server ends the connection of many a refused request, and a new handshake is dear.
  const open = (): TLSSocket => {
    const made = connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], session });
    made.on('session', (given: Buffer) => (session = given));
    made.on('error', () => {});
    return made;
  };
  return {
    async send(request, authorization) {
      const isFresh = socket === undefined || socket.destroyed;
      if (isFresh) socket = open();
      const bytes = http1Bytes(request, authorization);
      const outcome = await exchange(socket as TLSSocket, bytes, request);
      // A kept connection may have been ended by the server before this request came.
      if (outcome.status !== 0 || isFresh) return outcome;
      socket = open();
      return exchange(socket, bytes, request);
    },
    close: () => socket?.destroy(),
  };
}

function http1Bytes({ body, headers, method, path }: FuzzRequest, authorization: string | undefined): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: fuzz'];
  if (authorization !== undefined && headers['authorization'] === undefined)
    lines.push(`authorization: ${authorization}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push(`content-length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** Reads one answer; a watch is taken as answered with its first event. */
function exchange(socket: TLSSocket, bytes: Buffer, { method, path }: FuzzRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (status: number, keep: boolean): void => {
      clearTimeout(late);
      socket.removeAllListeners('data');
      socket.removeListener('close', closed);
      if (!keep) socket.destroy();
      resolve({ status, text: text.slice(0, KEPT_TEXT) });
    };
    const closed = (): void => finish(statusOf(text), false);
    const late = setTimeout(() => finish(statusOf(text), false), TIMEOUT_MS);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end).toLowerCase();
      const status = statusOf(text);
      if (status === 100) {
        text = text.slice(end + 4);
        return;
      }
      const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
      const keep = !/\r\nconnection: *close/.test(head);
      if (method === 'HEAD' || status === 304 || status === 204) finish(status, keep);
      else if (length !== undefined) {
        if (text.length >= end + 4 + Number(length)) finish(status, keep);
      } else if (/\r\ntransfer-encoding: *chunked/.test(head)) {
        if (text.endsWith('0\r\n\r\n')) finish(status, keep);
        else if (isWatch(path) && EVENT.test(text)) finish(status, false);
      }
    });
    socket.once('close', closed);
    socket.write(bytes);
  });
}

const isWatch = (path: string): boolean => path.includes('watch');
const EVENT = /"type": *"(ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)"/;
const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);

/** Headers that HTTP/2 does not have; Node refuses to send them. */
const NOT_IN_HTTP2 = new Set(['connection', 'expect', 'host', 'transfer-encoding']);

/**
 * Node's HTTP/2 ends a connection (GOAWAY with INTERNAL_ERROR, all its streams unanswered) at its 1,001st invalid frame,
 * as the head of a path with a blank is one, and at more than 1,000 cancelled streams, of which 33 a second are forgotten.
 * These defend it against hostile clients. This client leaves a connection long before either, so that whatever is not
 * answered is a finding.
 */
const FAULTS_PER_CONNECTION = 500;

interface Session {
  readonly http2: ClientHttp2Session;
  /** Streams that were cancelled, or ended by the server without an answer. */
  faults: number;
  /** The server closed it in order, as one that was idle: streams that it has not begun may be asked again. */
  isLeft: boolean;
}

export function http2Lines(host: string, port: number): Lines {
  let session: Session | undefined;
  const open = (): Session => {
    const http2 = connectHttp2(`https://${host}:${port}`, { rejectUnauthorized: false });
    const made = { http2, faults: 0, isLeft: false };
    http2.on('error', () => {});
    http2.on('goaway', (code) => (made.isLeft = code === constants.NGHTTP2_NO_ERROR));
    return made;
  };
  const current = (): Session => {
    if (session !== undefined && session.faults >= FAULTS_PER_CONNECTION) {
      // Ends with the last stream that is under way on it.
      session.http2.close();
      session = undefined;
    }
    if (session === undefined || session.http2.closed || session.http2.destroyed) session = open();
    return session;
  };
  return {
    async send(request, authorization) {
      const used = current();
      const outcome = await exchangeHttp2(used, request, authorization);
      if (outcome.status === 0) used.faults += 1;
      return outcome.status === 0 && used.isLeft ? exchangeHttp2(current(), request, authorization) : outcome;
    },
    close: () => session?.http2.destroy(),
  };
}

function exchangeHttp2(
  session: Session,
  { body, headers, method, path }: FuzzRequest,
  authorization: string | undefined,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const sent: Record<string, string> = { ':method': method, ':path': path };
    if (authorization !== undefined) sent['authorization'] = authorization;
    for (const [name, value] of Object.entries(headers)) if (!NOT_IN_HTTP2.has(name)) sent[name] = value;
    let status = 0;
    let text = '';
    const watches = isWatch(path);
    const stream = session.http2.request(sent, { endStream: body === undefined });
    // Answered is answered. What goes on is cancelled, a watch or a body that was refused, and nothing else.
    const finish = (): void => {
      clearTimeout(late);
      const goesOn = !stream.readableEnded || !stream.writableFinished;
      if (!stream.closed && goesOn) {
        stream.close(constants.NGHTTP2_CANCEL);
        session.faults += 1;
      }
      resolve({ status, text });
    };
    const late = setTimeout(finish, TIMEOUT_MS);
    stream.on('response', (answered) => (status = Number(answered[':status'] ?? 0)));
    stream.on('data', (chunk: Buffer) => {
      if (text.length < KEPT_TEXT) text += chunk.toString('latin1');
      if (watches && EVENT.test(text)) finish();
    });
    stream.on('error', () => {});
    stream.on('end', finish);
    stream.on('close', finish);
    if (body !== undefined) stream.end(body);
  });
}
