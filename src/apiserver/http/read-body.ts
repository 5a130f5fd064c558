/** A request body as one buffer, in memory of about its own size however small the pieces are that it comes in. */
import type { Readable } from 'node:stream';
import { type ApiError, badRequest, tooLargeBody } from '../exchange/status.ts';

export interface BodyRules {
  readonly maxBytes: number;
  /** Called when the body is wanted: what is refused for its length never is. */
  readonly begin: () => void;
  /** Asked before bytes are kept; a refusal ends the reading. */
  readonly take: (bytes: number) => ApiError | undefined;
}

const FIRST_PIECE_BYTES = 4096;

export function readRequestBody(
  stream: Readable,
  declaredLength: number | undefined,
  { begin, maxBytes, take }: BodyRules,
): Promise<Uint8Array | undefined> {
  if (declaredLength !== undefined && declaredLength > maxBytes) return Promise.reject(tooLargeBody(maxBytes));
  if (stream.destroyed) return Promise.reject(brokenOff());
  begin();
  return new Promise((resolve, reject) => {
    let kept: Buffer = Buffer.alloc(0);
    let size = 0;
    const settle = (): void => {
      stream.removeListener('data', onData);
      stream.removeListener('end', onEnd);
      stream.removeListener('close', onClose);
    };
    const refuse = (error: Error): void => {
      settle();
      stream.pause();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      const { length } = chunk;
      if (size + length > maxBytes) {
        refuse(tooLargeBody(maxBytes));
        return;
      }
      const refusal = take(length);
      if (refusal !== undefined) {
        refuse(refusal);
        return;
      }
      // Most bodies come in one piece, which is then taken as it is.
      if (size === 0 && length === declaredLength) kept = chunk;
      else kept = append(kept, size, chunk);
      size += length;
    };
    const onEnd = (): void => {
      settle();
      resolve(size === 0 ? undefined : kept.subarray(0, size));
    };
    const onClose = (): void => {
      settle();
      reject(brokenOff());
    };
    stream.on('data', onData);
    stream.once('end', onEnd);
    stream.once('close', onClose);
  });
}

/** Nobody will read it: the client is gone. */
const brokenOff = (): ApiError => badRequest('the request body ended before it was complete');

/** Room is doubled when it runs out, so that a body in many pieces is copied only a few times. */
function append(kept: Buffer, size: number, chunk: Buffer): Buffer {
  const needed = size + chunk.length;
  let into = kept;
  if (needed > kept.length) {
    into = Buffer.allocUnsafeSlow(Math.max(needed, kept.length * 2, FIRST_PIECE_BYTES));
    kept.copy(into, 0, 0, size);
  }
  chunk.copy(into, size);
  return into;
}
