import { hash } from 'node:crypto';

/** The number in [0, 1) that belongs to these names under a seed: asking again gives the same answer. */
export function draw(seed: number, ...names: readonly string[]): number {
  return hash('sha1', `${seed}/${names.join('/')}`, 'buffer').readUInt32BE(0) / 4_294_967_296;
}
