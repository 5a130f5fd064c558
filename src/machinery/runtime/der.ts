/**
 * Reads DER, the one spelling that X.509 allows: lengths in their shortest form, nothing left over. What is spelt
 * otherwise is refused, so that no two readers can take it for different things.
 */

/** Tags as they stand in the encoding; those of a context carry its number. */
export const Tag = {
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  OID: 0x06,
  UTF8: 0x0c,
  NUMERIC: 0x12,
  PRINTABLE: 0x13,
  TELETEX: 0x14,
  IA5: 0x16,
  BMP: 0x1e,
  SEQUENCE: 0x30,
  SET: 0x31,
  CONTEXT_0: 0xa0,
} as const;

export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and length, as something signed is signed. */
  readonly whole: Buffer;
}

export class DerError extends Error {
  override name = 'DerError';
}

/** The elements that follow each other in some bytes, all of them. */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = readOne(bytes, at);
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** The elements inside a single one, which is all there is in the bytes. */
export function readInside(bytes: Buffer, tag: number): DerElement[] {
  const [outer, ...more] = readElements(bytes);
  if (outer === undefined || more.length > 0 || outer.tag !== tag) {
    throw new DerError(`expected one element with tag ${tag}`);
  }
  return readElements(outer.content);
}

function readOne(bytes: Buffer, at: number): DerElement {
  const tag = bytes[at] as number;
  if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of more than one byte');
  const first = bytes[at + 1];
  if (first === undefined) throw new DerError('the data ends early');
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || start + count > bytes.length) throw new DerError('a length that DER does not have');
    length = bytes.readUIntBE(start, count);
    start += count;
    if (length < 0x80 || length < 2 ** (8 * (count - 1)))
      throw new DerError('a length that is not in its shortest form');
  }
  if (start + length > bytes.length) throw new DerError('the data ends early');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) };
}

/** `2.5.4.3`. */
export function readOid({ tag, content }: DerElement): string {
  if (tag !== Tag.OID || content.length === 0) throw new DerError('expected an object identifier');
  const parts: number[] = [];
  let part = 0;
  let fresh = true;
  for (const byte of content) {
    if (fresh && byte === 0x80) throw new DerError('an object identifier that is not in its shortest form');
    part = part * 128 + (byte & 0x7f);
    if (part > Number.MAX_SAFE_INTEGER / 128) throw new DerError('an object identifier that is too large');
    fresh = byte < 0x80;
    if (!fresh) continue;
    if (parts.length === 0) parts.push(...(part < 80 ? [Math.floor(part / 40), part % 40] : [2, part - 80]));
    else parts.push(part);
    part = 0;
  }
  if (!fresh) throw new DerError('an object identifier ends early');
  return parts.join('.');
}

const ALPHABETS: Readonly<Record<number, RegExp>> = {
  [Tag.NUMERIC]: /^[0-9 ]*$/,
  [Tag.PRINTABLE]: /^[A-Za-z0-9 '()+,\-./:=?*&]*$/,
  // oxlint-disable-next-line no-control-regex -- the alphabet of an IA5String is ASCII, all of it
  [Tag.IA5]: /^[\x00-\x7f]*$/,
};

/** The text of any string type that names are written in. */
export function readText({ tag, content }: DerElement): string {
  const text = decodeText(tag, content);
  if (text.includes('\0')) throw new DerError('a text with a NUL character');
  return text;
}

function decodeText(tag: number, content: Buffer): string {
  switch (tag) {
    case Tag.UTF8:
      return decodeUtf8(content);
    case Tag.NUMERIC:
    case Tag.PRINTABLE:
    case Tag.IA5: {
      const text = content.toString('latin1');
      if (ALPHABETS[tag]?.test(text) !== true) throw new DerError('a text with characters that its type does not have');
      return text;
    }
    case Tag.TELETEX:
      return content.toString('latin1');
    case Tag.BMP: {
      if (content.length % 2 !== 0) throw new DerError('a BMPString of half a character');
      const text = Buffer.from(content).swap16().toString('utf16le');
      if (/[\ud800-\udfff]/.test(text)) throw new DerError('a BMPString with a surrogate');
      return text;
    }
    default:
      throw new DerError(`a text of a type that is not known (tag ${tag})`);
  }
}

function decodeUtf8(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new DerError('a UTF8String that is not UTF-8');
  }
}
