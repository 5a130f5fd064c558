/** Bytes of a message that an expression makes; as the real server. */
const MAX_BYTES = 5 * 1024;

/** What an expression gave as a message; undefined where it is none, and the fixed one is to be taken. */
export function messageText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_BYTES) return undefined;
  return text;
}
