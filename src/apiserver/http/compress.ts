/** Large answers are compressed for clients that ask for it, away from the event loop, as kube-apiserver does. */
import { constants, createGzip } from 'node:zlib';
import type { Wire } from './wire.ts';
import type { WireHeaders } from './wire-headers.ts';
import { writeBlocks } from './write-response.ts';

/** On a fast network what is smaller arrives sooner as it is. */
const MIN_BYTES = 128 * 1024;
/** Most of what higher levels gain, for the least work. */
const LEVEL = constants.Z_BEST_SPEED;
const OUTPUT_BYTES = 64 * 1024;

/** Kubernetes takes the bare word alone: a quality, also one of nothing, is not looked at. */
export function asksForGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && acceptEncoding.split(',').some((token) => token.trim() === 'gzip');
}

export function isWorthCompressing({ headers, method }: Wire, bytes: number, given: WireHeaders): boolean {
  return (
    bytes > MIN_BYTES &&
    method !== 'HEAD' &&
    given['content-encoding'] === undefined &&
    asksForGzip(headers['accept-encoding'])
  );
}

/** Sends head and body. How long it will be is not known when it begins. */
export async function sendCompressed(
  wire: Wire,
  { chunks, headers, status }: { status: number; headers: WireHeaders; chunks: readonly Uint8Array[] },
): Promise<void> {
  const { out } = wire;
  const vary = headers['vary'] ?? [];
  const varies = [...(typeof vary === 'string' ? [vary] : vary), 'Accept-Encoding'];
  wire.sendHead(status, { ...headers, 'content-encoding': 'gzip', vary: varies });
  const gzip = createGzip({ level: LEVEL, chunkSize: OUTPUT_BYTES });
  gzip.once('error', () => wire.cut());
  // Whoever goes away in the middle leaves nothing behind; one who waits for room is woken by it.
  out.once('close', () => gzip.destroy());
  gzip.pipe(out);
  await writeBlocks(gzip, chunks);
  gzip.end();
}
