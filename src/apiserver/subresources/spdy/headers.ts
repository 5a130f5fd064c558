/** Header blocks of SPDY/3.1. Each direction of a connection is one compressed text, so blocks must be read in order. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { HEADER_DICTIONARY } from './dictionary.ts';

/** Of one block when it is unpacked. */
const MAX_BYTES = 64 * 1024;

export class HeaderReader {
  readonly #inflate = createInflate({ dictionary: HEADER_DICTIONARY, finishFlush: constants.Z_SYNC_FLUSH });

  /** Rejects what is too large or no header block. */
  async read(block: Buffer): Promise<Map<string, string>> {
    const text = await through(this.#inflate, block);
    const headers = new Map<string, string>();
    let at = 4;
    const next = (): string => {
      const length = text.readUInt32BE(at);
      const part = text.toString('utf8', at + 4, at + 4 + length);
      at += 4 + length;
      return part;
    };
    for (let left = text.readUInt32BE(0); left > 0 && at < text.length; left -= 1) {
      const name = next();
      headers.set(name.toLowerCase(), next());
    }
    return headers;
  }

  close(): void {
    this.#inflate.close();
  }
}

export class HeaderWriter {
  readonly #deflate = createDeflate({ dictionary: HEADER_DICTIONARY });

  /** A block without any header. */
  empty(): Promise<Buffer> {
    return through(this.#deflate, Buffer.alloc(4));
  }

  close(): void {
    this.#deflate.close();
  }
}

function through(coder: Deflate | Inflate, input: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) finish(new Error('a header block is too large'));
    };
    const finish = (error?: Error | null): void => {
      coder.removeListener('data', take);
      coder.removeListener('error', finish);
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    };
    coder.on('data', take);
    coder.once('error', finish);
    coder.write(input);
    coder.flush(constants.Z_SYNC_FLUSH, () => finish());
  });
}
