import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { COMMON_NAME, ORGANIZATION, parseCertificateRequest } from './certificate-request.ts';
import { element, writeRequest } from './certificate-request.fixture.ts';
import { readElements, readOid, Tag } from './der.ts';

const cn = (value: string | Buffer, tag?: number) => ({ type: COMMON_NAME, value, ...(tag && { tag }) });
const o = (value: string | Buffer, tag?: number) => ({ type: ORGANIZATION, value, ...(tag && { tag }) });

test('parseCertificateRequest() reads every value as it is written', () => {
  const { commonName, organizations } = parseCertificateRequest(
    writeRequest({ subject: [[o('\\system:masters')], [o('#0c01')], [o('a,O=b+"c"\\2b')], [cn('ján')]] }),
  );
  expect(organizations).toEqual(['\\system:masters', '#0c01', 'a,O=b+"c"\\2b']);
  expect(commonName).toBe('ján');
});

test('parseCertificateRequest() reads names that share a place, takes the last common name, and all string types', () => {
  const subject = [
    [o('system:masters', Tag.BMP), cn('first')],
    [o('two', Tag.PRINTABLE)],
    [o('three', Tag.TELETEX)],
    [cn('last', Tag.IA5)],
  ];
  const request = parseCertificateRequest(writeRequest({ subject }));
  expect(request.organizations).toEqual(['system:masters', 'two', 'three']);
  expect(request.commonName).toBe('last');
  expect(request.alternativeNames).toEqual({ dns: 0, email: 0, ip: 0, uri: 0, other: 0 });
});

test('parseCertificateRequest() counts alternative names by type', () => {
  const alternativeNames = [
    [0x82, 'a.example'],
    [0x81, 'a@example'],
    [0x87, '\x7f\0\0\x01'],
    [0x86, 'spiffe://a'],
    [0x88, 'x'],
  ] as const;
  const request = parseCertificateRequest(writeRequest({ subject: [[cn('a')]], alternativeNames }));
  expect(request.alternativeNames).toEqual({ dns: 1, email: 1, ip: 1, uri: 1, other: 1 });
});

const sound = { subject: [[cn('a')]] };
test.each([
  ['text that is none', 'nonsense'],
  ['another block', writeRequest(sound).replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')],
  ['another block before it', `-----BEGIN X-----\nAAAA\n-----END X-----\n${writeRequest(sound)}`],
  ['nothing inside', '-----BEGIN CERTIFICATE REQUEST-----\n\n-----END CERTIFICATE REQUEST-----\n'],
  ['something left over', writeRequest({ ...sound, damage: (der) => Buffer.concat([der, Buffer.from([5, 0])]) })],
  ['an end that comes early', writeRequest({ ...sound, damage: (der) => der.subarray(0, -3) })],
  [
    'another subject than was signed',
    writeRequest({
      ...sound,
      damage: (der) => Buffer.from(der.toString('latin1').replace('\x01a0', '\x01b0'), 'latin1'),
    }),
  ],
  ['a PrintableString with other characters', writeRequest({ subject: [[o('a@b', Tag.PRINTABLE)]] })],
  ['a UTF8String that is not UTF-8', writeRequest({ subject: [[o(Buffer.from([0xff, 0xfe]))]] })],
  ['an UTF8String with surrogates', writeRequest({ subject: [[o(Buffer.from([0xed, 0xa0, 0x80]))]] })],
  ['a UniversalString', writeRequest({ subject: [[o('a', 0x1c)]] })],
  ['half a BMPString', writeRequest({ subject: [[o(Buffer.from([0, 97, 0]), Tag.BMP)]] })],
  ['a NUL character', writeRequest({ subject: [[o('system:masters\0x')]] })],
])('parseCertificateRequest() refuses %s', (_what, pem) => {
  expect(() => parseCertificateRequest(pem)).toThrow(/certificate request|PEM block type/);
});

test('a length is read in its shortest form only', () => {
  expect(() => readElements(Buffer.from([4, 0x81, 1, 0]))).toThrow('shortest form');
  expect(() => readElements(Buffer.from([4, 0x82, 0, 0x80, ...Buffer.alloc(128)]))).toThrow('shortest form');
  expect(() => readElements(Buffer.from([4, 0x80, 0, 0]))).toThrow('does not have');
  expect(() => readElements(Buffer.from([4]))).toThrow('ends early');
  expect(readElements(element(4, Buffer.alloc(300)))).toHaveLength(1);
});

test('readOid() refuses what could be written shorter', () => {
  expect(readOid({ tag: Tag.OID, content: Buffer.from([0x55, 4, 10]), whole: Buffer.alloc(0) })).toBe(ORGANIZATION);
  const padded = { tag: Tag.OID, content: Buffer.from([0x55, 0x80, 4]), whole: Buffer.alloc(0) };
  expect(() => readOid(padded)).toThrow('shortest form');
});

test('keys of other types are refused', () => {
  const { publicKey } = generateKeyPairSync('x25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const other = writeRequest({
    ...sound,
    damage(der) {
      const [outer] = readElements(der);
      const [info, ...rest] = readElements(outer?.content ?? Buffer.alloc(0));
      const [version, name, , attributes] = readElements(info?.content ?? Buffer.alloc(0));
      const parts = [version, name, { whole: spki }, attributes].map((part) => part?.whole ?? Buffer.alloc(0));
      return element(Tag.SEQUENCE, element(Tag.SEQUENCE, ...parts), ...rest.map(({ whole }) => whole));
    },
  });
  expect(() => parseCertificateRequest(other)).toThrow('must be of type');
});
