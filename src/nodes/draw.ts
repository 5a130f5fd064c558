import { createHash } from 'node:crypto';

/** The number in [0, 1) that belongs to these names under a seed: asking again gives the same answer. */
export function draw(seed: number, ...names: readonly string[]): number {
  const digest = createHash('sha1')
    .update(`${seed}/${names.join('/')}`)
    .digest();
  return digest.readUInt32BE(0) / 4_294_967_296;
}
