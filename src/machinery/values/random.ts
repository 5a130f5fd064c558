/** Returns a number in [0, 1); same seed, same sequence. */
export type Random = () => number;

/** A small seeded generator (mulberry32), for simulations and names that tests must be able to replay. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Random characters that can end a generated name; no vowels, so no words. */
export function randomSuffix(random: Random, length = 5): string {
  let text = '';
  for (let at = 0; at < length; at += 1) text += NAME_ALPHABET.charAt(Math.floor(random() * NAME_ALPHABET.length));
  return text;
}

/** UUIDs in the order of a sequence of their own, so that drawing names does not change them. */
export function seededUuids(seed: number): () => string {
  const random = seededRandom(seed ^ 0x5eed);
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  return () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}
