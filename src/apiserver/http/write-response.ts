/** Writes an answer to a socket no faster than the client reads it. */
import type { Writable } from 'node:stream';
import type { StreamBody } from '../exchange/exchange.ts';

const BLOCK_BYTES = 64 * 1024;
/** A watcher this far behind is cut off; it will come back and resume. */
const MAX_BEHIND_BYTES = 64 * 1024 * 1024;

/** Small chunks are joined, so that a list of many objects takes few writes. */
export async function writeBlocks(out: Writable, chunks: readonly Uint8Array[]): Promise<void> {
  let block: Uint8Array[] = [];
  let size = 0;
  for (const chunk of chunks) {
    block.push(chunk);
    size += chunk.length;
    if (size < BLOCK_BYTES) continue;
    const flowing = out.write(block.length === 1 ? block[0] : Buffer.concat(block));
    block = [];
    size = 0;
    if (!flowing) await drained(out);
    if (out.destroyed) return;
  }
  if (size > 0) out.write(Buffer.concat(block));
}

/** Resolves when the client has caught up, or is gone. */
function drained(out: Writable): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      out.removeListener('drain', finish);
      out.removeListener('close', finish);
      resolve();
    };
    out.once('drain', finish);
    out.once('close', finish);
  });
}

/** Connects a watch to a socket and ends it with the socket. */
export function writeStream(out: Writable, start: StreamBody, cutOff: () => void): void {
  const stop = start({
    write(chunk) {
      if (out.destroyed) return;
      out.write(chunk);
      if (out.writableLength > MAX_BEHIND_BYTES) cutOff();
    },
    ready: () => (out.writableNeedDrain && !out.destroyed ? drained(out) : undefined),
    end: () => out.end(),
  });
  if (out.destroyed) stop();
  else out.once('close', stop);
}
