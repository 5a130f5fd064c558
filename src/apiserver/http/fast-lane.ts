/**
 * HTTP/1.1 without Node's request and response objects, which cost more than most requests do. It serves simple
 * requests only; the first other one takes the connection to Node for good.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ApiHandler, type ApiResponse, IncomingRequest } from '../exchange.ts';
import { httpDate, withTimeout } from './answer.ts';
import { Departure } from './departure.ts';
import { peerOf } from './peer.ts';
import { SimpleRequestReader, type SimpleRequest } from './simple-request.ts';
import { writeBlocks, writeStream } from './write-response.ts';

/** Requests sent before the last was answered wait; a client that sends this much of them is made to. */
const MAX_WAITING_BYTES = 64 * 1024;
/** Answers up to this size go out in one piece with their head. */
const ONE_PIECE_BYTES = 64 * 1024;

export function serveFastLane(handle: ApiHandler, socket: Socket, toNode: () => void): void {
  const reader = new SimpleRequestReader();
  let busy = false;
  let waiting: Buffer | undefined;

  const leave = (unread: Buffer): void => {
    socket.removeListener('data', onData);
    socket.removeListener('end', onEnd);
    socket.removeListener('error', onError);
    socket.unshift(unread);
    toNode();
  };
  const next = (chunk: Buffer): void => {
    const request = reader.read(chunk);
    if (request === undefined) {
      leave(chunk);
      return;
    }
    busy = true;
    waiting = request.rest;
    void serve(handle, socket, request).then(done);
  };
  const done = (): void => {
    busy = false;
    if (socket.destroyed) return;
    const chunk = waiting;
    waiting = undefined;
    if (socket.isPaused()) socket.resume();
    if (chunk !== undefined) next(chunk);
  };
  const onData = (chunk: Buffer): void => {
    if (!busy) {
      next(chunk);
      return;
    }
    waiting = waiting === undefined ? chunk : Buffer.concat([waiting, chunk]);
    if (waiting.length > MAX_WAITING_BYTES) socket.pause();
  };
  const onEnd = (): void => void socket.end();
  const onError = (): void => void socket.destroy();
  socket.on('data', onData);
  socket.on('end', onEnd);
  socket.on('error', onError);
}

async function serve(handle: ApiHandler, socket: Socket, simple: SimpleRequest): Promise<void> {
  const gone = new Departure(socket);
  const { method, url, headers, body } = simple;
  const request = new IncomingRequest({ method, url, headers, body, peer: peerOf(socket) }, () => gone.signal);
  const response = await withTimeout(handle, request);
  gone.settle();
  if (!socket.destroyed) await answer(socket, response);
}

async function answer(socket: Socket, { status, headers, body }: ApiResponse): Promise<void> {
  if (typeof body === 'function') {
    // Nothing simple is answered by a stream today; without a length it can only end with the connection.
    socket.write(headOf(status, headers, 'connection: close\r\n'), 'latin1');
    writeStream(socket, body, () => socket.destroy());
    return new Promise((resolve) => socket.once('close', resolve));
  }
  const chunks = body instanceof Uint8Array ? [body] : body;
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const head = headOf(status, headers, `connection: keep-alive\r\ncontent-length: ${length}\r\n`);
  if (length > ONE_PIECE_BYTES) {
    socket.write(head, 'latin1');
    await writeBlocks(socket, chunks);
    return;
  }
  const piece = takePiece(head.length + length);
  let at = piece.write(head, 0, 'latin1');
  for (const chunk of chunks) {
    piece.set(chunk, at);
    at += chunk.length;
  }
  socket.write(piece);
}

const SLAB_BYTES = 256 * 1024;
let slab = Buffer.alloc(0);
let taken = 0;

/** Memory for an answer, cut from a slab: Node's own pool is for smaller pieces, and one by one they cost more. */
function takePiece(bytes: number): Buffer {
  if (taken + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    taken = 0;
  }
  taken += bytes;
  return slab.subarray(taken - bytes, taken);
}

function headOf(status: number, headers: ApiResponse['headers'], framing: string): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ndate: ${httpDate()}\r\n${framing}`;
  for (const name in headers) {
    const value = headers[name] as string | readonly string[];
    if (typeof value === 'string') head += `${name}: ${printable(value)}\r\n`;
    else for (const one of value) head += `${name}: ${printable(one)}\r\n`;
  }
  return `${head}\r\n`;
}

/** No value may break out of its line. */
function printable(value: string): string {
  return /[^\t\x20-\x7e\x80-\xff]/.test(value) ? value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?') : value;
}
