/** For tests: certificate requests as an attacker would write them, byte by byte. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Tag } from './der.ts';

export interface WrittenAttribute {
  readonly type: string;
  readonly value: string | Buffer;
  /** Type of string; UTF8String unless given. */
  readonly tag?: number;
}

export interface WrittenRequest {
  /** Each list is one place of the name; more than one attribute in it share that place. */
  readonly subject: readonly (readonly WrittenAttribute[])[];
  /** Tag and bytes of each alternative name. */
  readonly alternativeNames?: readonly (readonly [tag: number, value: string])[];
  /** Changes the bytes after they are signed. */
  readonly damage?: (der: Buffer) => Buffer;
}

export const element = (tag: number, ...content: Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const size = body.length.toString(16);
  const length = Buffer.from(size.length % 2 === 0 ? size : `0${size}`, 'hex');
  const head = body.length < 0x80 ? [body.length] : [0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
};

const oid = (text: string): Buffer => {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return element(Tag.OID, Buffer.from(bytes));
};

const text = ({ tag = Tag.UTF8, value }: WrittenAttribute): Buffer => {
  if (typeof value !== 'string') return element(tag, value);
  return element(tag, tag === Tag.BMP ? Buffer.from(value, 'utf16le').swap16() : Buffer.from(value, 'utf8'));
};

/** A request in PEM, signed with a new key. */
export function writeRequest({ alternativeNames = [], damage = (der) => der, subject }: WrittenRequest): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = subject.map((place) =>
    element(Tag.SET, ...place.map((one) => element(Tag.SEQUENCE, oid(one.type), text(one)))),
  );
  const names = alternativeNames.map(([tag, value]) => element(tag, Buffer.from(value)));
  const extension = element(Tag.SEQUENCE, oid('2.5.29.17'), element(Tag.OCTET_STRING, element(Tag.SEQUENCE, ...names)));
  const asked = element(Tag.SEQUENCE, oid('1.2.840.113549.1.9.14'), element(Tag.SET, element(Tag.SEQUENCE, extension)));
  const info = element(
    Tag.SEQUENCE,
    element(Tag.INTEGER, Buffer.from([0])),
    element(Tag.SEQUENCE, ...name),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(Tag.CONTEXT_0, ...(names.length === 0 ? [] : [asked])),
  );
  const signature = sign('sha256', info, privateKey);
  const algorithm = element(Tag.SEQUENCE, oid('1.2.840.10045.4.3.2'));
  const der = element(Tag.SEQUENCE, info, algorithm, element(Tag.BIT_STRING, Buffer.from([0]), signature));
  const lines = damage(der).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}
