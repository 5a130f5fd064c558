/** Takes bodies in without ever holding more than a fixed sum of them. */
import type { IncomingMessage } from 'node:http';
import type { ReviewTraits } from './routes.ts';

export class RejectedBody extends Error {
  override name = 'RejectedBody';
  readonly status: number;
  readonly reason: 'LengthRequired' | 'TooLarge' | 'Overloaded';

  constructor(status: number, reason: RejectedBody['reason'], message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** All bodies together; a quarter is for evictions alone, so that nothing else can keep them from being answered. */
const MAX_SUM_BYTES = 64 * 1024 * 1024;
const MAX_OTHER_BYTES = 48 * 1024 * 1024;

export class Intake {
  #sum = 0;
  #others = 0;

  /** Bytes of all bodies that are held or have been announced. */
  get bytes(): number {
    return this.#sum;
  }

  /**
   * Reads a body, hands it to `use`, and gives its room back when `use` is done. What is too much is told by the length
   * alone, before any of it is read.
   */
  async take<T>(request: IncomingMessage, traits: ReviewTraits, use: (text: string) => Promise<T>): Promise<T> {
    const length = lengthOf(request);
    if (length > traits.maxBodyBytes) throw new RejectedBody(413, 'TooLarge', 'the review is too large');
    const other = traits.isEviction ? 0 : length;
    if (this.#sum + length > MAX_SUM_BYTES || this.#others + other > MAX_OTHER_BYTES) {
      throw new RejectedBody(503, 'Overloaded', 'too many reviews are being taken in, try again');
    }
    this.#sum += length;
    this.#others += other;
    try {
      return await use(await readBody(request));
    } finally {
      this.#sum -= length;
      this.#others -= other;
    }
  }
}

function lengthOf({ headers }: IncomingMessage): number {
  const given = headers['content-length'];
  if (given === undefined || !/^\d{1,15}$/.test(given)) {
    throw new RejectedBody(411, 'LengthRequired', 'a review must say how long it is (content-length)');
  }
  return Number(given);
}

/** Node hands on no more than the length that was announced. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(new Error('the API server hung up'));
    });
  });
}
