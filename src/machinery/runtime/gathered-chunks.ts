import type { Readable } from 'node:stream';

/**
 * What a stream delivers, a while after it came: what comes in small pieces is then worked on together, and more urgent
 * work that comes with it goes first. A stream that brings more than a little at once is not held up.
 */
export async function* gatherChunks(stream: Readable, gatherMs: number): AsyncGenerator<Buffer> {
  let wake = (): void => {};
  const changed = (): void => wake();
  const events = ['readable', 'end', 'error', 'close'] as const;
  for (const event of events) stream.on(event, changed);
  const wait = (ms?: number): Promise<void> =>
    new Promise((resolve) => {
      if (ms !== undefined) setTimeout(resolve, ms);
      else wake = resolve;
    });
  try {
    for (;;) {
      const arrived = stream.readableLength;
      if (arrived > 0 && arrived < stream.readableHighWaterMark) await wait(gatherMs);
      const chunk = stream.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      else if (stream.errored !== null) throw stream.errored;
      else if (stream.readableEnded) return;
      else if (stream.destroyed) throw new Error('the stream was closed before its end');
      else await wait();
    }
  } finally {
    for (const event of events) stream.removeListener(event, changed);
    stream.destroy();
  }
}
