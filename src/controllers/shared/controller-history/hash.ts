const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A 32-bit FNV-1 hash of the text, spelled so that it can end a name. */
export function nameHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = (Math.imul(hash, 0x01000193) >>> 0) ^ byte;
  let name = '';
  for (const digit of String(hash >>> 0)) name += ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length);
  return name;
}

/** JSON with object keys in order, so that equal values have equal text. */
export function stableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${stableJson(item)}`);
  return `{${members.join(',')}}`;
}
