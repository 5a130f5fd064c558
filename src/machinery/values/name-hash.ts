const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** A 32-bit FNV-1 hash of the text, spelled so that it can end a name. */
export function nameHash(text: string): string {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = (Math.imul(hash, PRIME) >>> 0) ^ byte;
  return spelled(hash);
}

/** The same with FNV-1a, which other names of Kubernetes end in. */
export function nameHash1a(text: string): string {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, PRIME) >>> 0;
  return spelled(hash);
}

function spelled(hash: number): string {
  let name = '';
  for (const digit of String(hash >>> 0)) name += ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length);
  return name;
}
