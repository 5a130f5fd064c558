import type { Readable } from 'node:stream';

/**
 * What is thrown away of a body nobody reads. The client of HTTP/1.1 gets to read its answer before the line is cut; for
 * HTTP/2, what comes after the end of a stream is never given back to the window of its connection, which all the other
 * streams share.
 */
const MAX_THROWN_AWAY_BYTES = 8 * 1024 * 1024;
const MAX_THROWING_AWAY_MS = 2000;

/** Reads on without keeping anything, until the end, the limit or the time is reached. */
export function throwAway(incoming: Readable, done: () => void): void {
  let bytes = 0;
  const finish = (): void => {
    clearTimeout(timer);
    incoming.removeListener('data', onData);
    incoming.removeListener('end', finish);
    incoming.removeListener('close', finish);
    done();
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_THROWN_AWAY_BYTES) finish();
  };
  const timer = setTimeout(finish, MAX_THROWING_AWAY_MS);
  incoming.on('data', onData);
  incoming.once('end', finish);
  incoming.once('close', finish);
  incoming.resume();
}
