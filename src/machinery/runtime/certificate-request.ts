/**
 * Certificate requests (PKCS #10), read into their parts. The parts, and never a text of them, are what is checked and
 * what goes into the certificate: a text would have to be read again, and could then say something else.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type DerElement, DerError, readElements, readInside, readOid, readText, Tag } from './der.ts';

export interface NameAttribute {
  /** Object identifier, such as `2.5.4.10` for an organization. */
  readonly type: string;
  readonly value: string;
}

export interface CertificateRequest {
  /** In the order of the request; an attribute that shares its place with others is one of them. */
  readonly subject: readonly NameAttribute[];
  /** The last one, which is the one that counts; empty when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly alternativeNames: AlternativeNames;
  readonly publicKey: KeyObject;
}

export type AlternativeNameType = 'dns' | 'email' | 'ip' | 'uri' | 'other';
export type AlternativeNames = Readonly<Record<AlternativeNameType, number>>;

export const COMMON_NAME = '2.5.4.3';
export const ORGANIZATION = '2.5.4.10';

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';

/** Tags of the names that kube-apiserver tells apart. */
const ALTERNATIVE_NAMES: Readonly<Record<number, AlternativeNameType>> = {
  0x81: 'email',
  0x82: 'dns',
  0x86: 'uri',
  0x87: 'ip',
};

/** Hash by signature algorithm; null where the key decides. SHA-1 is not among them. */
const SIGNATURES: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

const KEY_TYPES = ['rsa', 'ec', 'ed25519'];

export class CertificateRequestError extends Error {
  override name = 'CertificateRequestError';
}

/** Reads the first PEM block and checks its signature; throws a `CertificateRequestError` that says what is wrong. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  try {
    return readRequest(requestBytes(pem));
  } catch (error) {
    if (error instanceof CertificateRequestError) throw error;
    const why = error instanceof DerError ? error.message : 'it cannot be read';
    throw new CertificateRequestError(`the certificate request is malformed: ${why}`, { cause: error });
  }
}

function requestBytes(pem: string): Buffer {
  const found = /(?:^|\n)-----BEGIN ([^\n-]+)-----[ \t\r]*\n([A-Za-z0-9+/=\s]*?)-----END \1-----/.exec(pem);
  if (found?.[1] !== 'CERTIFICATE REQUEST') {
    throw new CertificateRequestError('PEM block type must be CERTIFICATE REQUEST');
  }
  return Buffer.from(found[2] as string, 'base64');
}

function readRequest(der: Buffer): CertificateRequest {
  const [info, algorithm, signature] = exactly(readInside(der, Tag.SEQUENCE), 3);
  const [version, subject, key, attributes] = readElements(expect(info, Tag.SEQUENCE).content);
  if (expect(version, Tag.INTEGER).content.length !== 1) throw new DerError('a version that is not known');
  const publicKey = readKey(expect(key, Tag.SEQUENCE));
  if (!isSigned(info as DerElement, expect(algorithm, Tag.SEQUENCE), expect(signature, Tag.BIT_STRING), publicKey)) {
    throw new CertificateRequestError('the signature of the certificate request is wrong');
  }
  const names = readName(expect(subject, Tag.SEQUENCE));
  const valuesOf = (type: string): string[] => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    subject: names,
    commonName: valuesOf(COMMON_NAME).at(-1) ?? '',
    organizations: valuesOf(ORGANIZATION),
    alternativeNames: countAlternativeNames(attributes),
    publicKey,
  };
}

function readName({ content }: DerElement): NameAttribute[] {
  return readElements(content).flatMap((set) =>
    readElements(expect(set, Tag.SET).content).map((attribute) => {
      const [type, value] = exactly(readElements(expect(attribute, Tag.SEQUENCE).content), 2);
      return { type: readOid(type as DerElement), value: readText(value as DerElement) };
    }),
  );
}

function readKey({ whole }: DerElement): KeyObject {
  const key = createPublicKey({ key: whole, format: 'der', type: 'spki' });
  if (!KEY_TYPES.includes(key.asymmetricKeyType ?? '')) {
    throw new CertificateRequestError(`the key of the certificate request must be of type ${KEY_TYPES.join(', ')}`);
  }
  return key;
}

function isSigned(info: DerElement, algorithm: DerElement, signature: DerElement, key: KeyObject): boolean {
  const [oid] = readElements(algorithm.content);
  const hash = SIGNATURES[readOid(expect(oid, Tag.OID))];
  if (hash === undefined) {
    throw new CertificateRequestError('the certificate request is signed in a way that is not accepted');
  }
  // The first byte says how many bits of the last are not used: none.
  return signature.content[0] === 0 && verify(hash, info.whole, key, signature.content.subarray(1));
}

function countAlternativeNames(attributes: DerElement | undefined): AlternativeNames {
  const counts = { dns: 0, email: 0, ip: 0, uri: 0, other: 0 };
  if (attributes === undefined) return counts;
  for (const attribute of readElements(expect(attributes, Tag.CONTEXT_0).content)) {
    const [type, values] = exactly(readElements(expect(attribute, Tag.SEQUENCE).content), 2);
    if (readOid(type as DerElement) !== EXTENSION_REQUEST) continue;
    for (const extensions of readElements(expect(values, Tag.SET).content)) {
      for (const extension of readElements(expect(extensions, Tag.SEQUENCE).content)) {
        const parts = readElements(expect(extension, Tag.SEQUENCE).content);
        if (readOid(expect(parts[0], Tag.OID)) !== SUBJECT_ALTERNATIVE_NAME) continue;
        for (const name of readInside(expect(parts.at(-1), Tag.OCTET_STRING).content, Tag.SEQUENCE)) {
          counts[ALTERNATIVE_NAMES[name.tag] ?? 'other'] += 1;
        }
      }
    }
  }
  return counts;
}

function expect(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw new DerError(`expected an element with tag ${tag}`);
  return element;
}

function exactly(elements: DerElement[], count: number): DerElement[] {
  if (elements.length !== count) throw new DerError(`expected ${count} elements`);
  return elements;
}
