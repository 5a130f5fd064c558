/** A request body as one buffer, or the reason it is not. */
import type { Readable } from 'node:stream';

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

export type ReadBody = { readonly bytes: Uint8Array | undefined } | 'too large' | 'gone';

export function readRequestBody(stream: Readable, declaredLength: number | undefined): Promise<ReadBody> {
  if (declaredLength !== undefined && declaredLength > MAX_BODY_BYTES) {
    stream.resume();
    return Promise.resolve('too large');
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        stream.removeAllListeners('data');
        stream.resume();
        resolve('too large');
        return;
      }
      chunks.push(chunk);
    });
    stream.once('end', () =>
      resolve({ bytes: size === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks) }),
    );
    stream.once('error', () => resolve('gone'));
    stream.once('close', () => resolve('gone'));
  });
}
