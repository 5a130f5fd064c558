/** The one place where response headers are made fit for the wire: whatever is given, the result is legal and small. */
import type { ApiResponse } from '../exchange/exchange.ts';

export type WireHeaders = Record<string, string | string[]>;

/** Node's own client, like others, reads no head over 16 KiB or 128 lines; this leaves room for what is added below. */
const MAX_HEAD_BYTES = 12 * 1024;
const MAX_LINES = 100;
const MAX_VALUE_BYTES = 4 * 1024;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/;
/** HTTP/2 knows none of them, and HTTP/1.1 sets them itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Rules, in order:
 *  1. what is no header name, or belongs to the connection, is left out
 *  2. text goes out as UTF-8, as Go's server sends it; control characters become spaces
 *  3. a value is cut to 4 KiB
 *  4. what goes past 12 KiB or 100 lines in all is left out
 */
export function wireHeaders(headers: ApiResponse['headers']): WireHeaders {
  const legal: WireHeaders = {};
  let left = MAX_HEAD_BYTES;
  let lines = 0;
  const fit = (name: string, value: string): string | undefined => {
    const bytes = wireValue(value);
    const size = name.length + bytes.length + ': \r\n'.length;
    if (size > left || lines === MAX_LINES) return undefined;
    left -= size;
    lines += 1;
    return bytes;
  };
  for (const given in headers) {
    const name = given.toLowerCase();
    if (!NAME.test(name) || OF_THE_CONNECTION.has(name)) continue;
    const value = headers[given] as string | readonly string[];
    if (typeof value === 'string') {
      const one = fit(name, value);
      if (one !== undefined) legal[name] = one;
      continue;
    }
    const many = value.map((each) => fit(name, each)).filter((each) => each !== undefined);
    if (many.length > 0) legal[name] = many;
  }
  return legal;
}

/** Node writes each character of a header as one byte, so the bytes of the text are handed over as characters. */
function wireValue(value: string): string {
  if (value.length <= MAX_VALUE_BYTES && !/[^\x20-\x7e]/.test(value)) return value;
  // Controls are C0 and C1: the latter are told apart from the bytes of UTF-8 only before it is made.
  const text = value.slice(0, MAX_VALUE_BYTES).replace(/[\0-\x1f\x7f-\x9f]/g, ' ');
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MAX_VALUE_BYTES) return bytes.toString('latin1');
  let end = MAX_VALUE_BYTES;
  // Never in the middle of a character.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('latin1', 0, end);
}

/** The status line's code; one that HTTP does not allow for a final answer is a mistake of ours. */
export function wireStatus(status: number): number {
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 500;
}
