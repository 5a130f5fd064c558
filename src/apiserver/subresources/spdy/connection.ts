/** The server's side of a SPDY/3.1 connection, as far as streams of Kubernetes need it: no flow control, no priorities. */
import type { Duplex } from 'node:stream';
import { HeaderReader, HeaderWriter } from './headers.ts';

const VERSION = 0x8003;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const FIN = 1;
const HEAD_BYTES = 8;
/** Of one frame; clients send 32 KiB. */
const MAX_FRAME_BYTES = 1024 * 1024;
const MAX_STREAMS = 1000;

export interface SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  onData: (chunk: Buffer) => void;
  /** The client sends nothing more. */
  onEnd: () => void;
  write(chunk: Uint8Array): void;
  /** Nothing more is sent; what the client still sends is read. */
  end(): void;
}

/** Serves until either side closes. `opened` hears of each stream the client opens. */
export async function serveSpdy(wire: Duplex, opened: (stream: SpdyStream) => void): Promise<void> {
  const connection = new Connection(wire, opened);
  try {
    let rest = Buffer.alloc(0);
    for await (const chunk of wire) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (;;) {
        if (rest.length < HEAD_BYTES) break;
        const length = rest.readUInt32BE(4) & 0xffffff;
        if (length > MAX_FRAME_BYTES) return;
        if (rest.length < HEAD_BYTES + length) break;
        const frame = rest.subarray(0, HEAD_BYTES + length);
        rest = rest.subarray(HEAD_BYTES + length);
        if (!(await connection.take(frame))) return;
      }
      await connection.drained();
    }
  } catch {
    // The client went away, or spoke something else: there is nobody to tell.
  } finally {
    connection.close();
    wire.destroy();
  }
}

class Connection {
  readonly #wire: Duplex;
  readonly #opened: (stream: SpdyStream) => void;
  readonly #reader = new HeaderReader();
  readonly #writer = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();

  constructor(wire: Duplex, opened: (stream: SpdyStream) => void) {
    this.#wire = wire;
    this.#opened = opened;
  }

  /** False when the connection is over. */
  async take(frame: Buffer): Promise<boolean> {
    const flags = frame[4] ?? 0;
    const payload = frame.subarray(HEAD_BYTES);
    if ((frame.readUInt16BE(0) & 0x8000) === 0) {
      this.#data(frame.readUInt32BE(0), payload, flags);
      return true;
    }
    const type = frame.readUInt16BE(2);
    if (type === SYN_STREAM) await this.#open(payload, flags);
    else if (type === RST_STREAM) this.#streams.delete(payload.readUInt32BE(0));
    else if (type === PING) this.#control(PING, payload);
    return type !== GOAWAY && this.#streams.size <= MAX_STREAMS;
  }

  /** Waits for a client that reads slower than it writes. */
  drained(): Promise<void> | undefined {
    if (!this.#wire.writableNeedDrain) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wire.removeListener('drain', done).removeListener('close', done);
        resolve();
      };
      this.#wire.on('drain', done).on('close', done);
    });
  }

  close(): void {
    this.#reader.close();
    this.#writer.close();
  }

  async #open(payload: Buffer, flags: number): Promise<void> {
    const id = payload.readUInt32BE(0) & 0x7fffffff;
    const headers = await this.#reader.read(payload.subarray(10));
    let isEnded = false;
    const stream: SpdyStream = {
      headers,
      onData: () => {},
      onEnd: () => {},
      write: (chunk) => {
        if (!isEnded) this.#send(id, chunk, 0);
      },
      end: () => {
        if (!isEnded) this.#send(id, Buffer.alloc(0), FIN);
        isEnded = true;
      },
    };
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    this.#control(SYN_REPLY, Buffer.concat([reply, await this.#writer.empty()]));
    this.#streams.set(id, stream);
    this.#opened(stream);
    if ((flags & FIN) !== 0) this.#ended(id, stream);
  }

  #data(id: number, payload: Buffer, flags: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (payload.length > 0) stream.onData(Buffer.from(payload));
    if ((flags & FIN) !== 0) this.#ended(id, stream);
  }

  #ended(id: number, stream: SpdyStream): void {
    this.#streams.delete(id);
    stream.onEnd();
  }

  #send(id: number, chunk: Uint8Array, flags: number): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(id);
    head.writeUInt32BE(chunk.length, 4);
    head[4] = flags;
    this.#write(Buffer.concat([head, chunk]));
  }

  #control(type: number, payload: Buffer): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt16BE(VERSION);
    head.writeUInt16BE(type, 2);
    head.writeUInt32BE(payload.length, 4);
    this.#write(Buffer.concat([head, payload]));
  }

  #write(frame: Buffer): void {
    if (this.#wire.writable) this.#wire.write(frame);
  }
}
