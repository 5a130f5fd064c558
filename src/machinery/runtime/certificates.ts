/**
 * Certificates of the embedded control plane: one CA, and leaves it signs. All keys are ECDSA P-256.
 * The X.509 library is slow to load, so it is imported only when something must be issued.
 */
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type CertificateRequest, COMMON_NAME, type NameAttribute, ORGANIZATION } from './certificate-request.ts';

export interface KeyPair {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface CertificateSubject {
  /** User name of a client certificate. */
  readonly commonName: string;
  /** Groups of a client certificate. */
  readonly organizations?: readonly string[];
}

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly days: number;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** Clients whose clock runs a little behind ours must still accept a certificate issued just now. */
const BACKDATE_MS = 5 * 60_000;

async function loadX509() {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

type X509 = Awaited<ReturnType<typeof loadX509>>;

export async function createAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    notBefore: new Date(validity.now - BACKDATE_MS),
    notAfter: new Date(validity.now + validity.days * DAY_MS),
    signingAlgorithm: ALGORITHM,
    name: nameOf(x509, { commonName }),
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await exportKey(x509, keys.privateKey) };
}

/** `hosts` are DNS names and IP addresses, mixed. */
export async function issueServer(
  authority: KeyPair,
  commonName: string,
  hosts: readonly string[],
  validity: Validity,
): Promise<KeyPair> {
  const x509 = await loadX509();
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const extension = [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(names),
  ];
  return issue(x509, authority, { subject: { commonName }, validity, extension });
}

export async function issueClient(
  authority: KeyPair,
  subject: CertificateSubject,
  validity: Validity,
): Promise<KeyPair> {
  const x509 = await loadX509();
  const extension = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
  return issue(x509, authority, { subject, validity, extension });
}

/** What a signer grants to a request that it has checked. */
export interface ClientGrant {
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly keyEncipherment: boolean;
  readonly digitalSignature: boolean;
}

/** Attributes of a subject that kube-controller-manager's signers keep; others are left out. */
const KEPT_ATTRIBUTES = ['2.5.4.5', '2.5.4.6', '2.5.4.7', '2.5.4.8', '2.5.4.9', ORGANIZATION, '2.5.4.11', '2.5.4.17'];

/**
 * Signs the key and subject of a request as a client certificate. The attributes are written anew from their values,
 * whatever type of string the request had them in. Alternative names are not granted: nobody looks at those of a client.
 */
export async function signClientRequest(
  authority: KeyPair,
  { commonName, publicKey, subject }: CertificateRequest,
  { digitalSignature, keyEncipherment, notAfter, notBefore }: ClientGrant,
): Promise<string> {
  const x509 = await loadX509();
  const kept = subject.filter(({ type, value }) => KEPT_ATTRIBUTES.includes(type) && value !== '');
  const attributes = [...kept, ...(commonName === '' ? [] : [{ type: COMMON_NAME, value: commonName }])];
  const { digitalSignature: signing, keyEncipherment: encipherment } = x509.KeyUsageFlags;
  const flags = (digitalSignature ? signing : 0) | (keyEncipherment ? encipherment : 0);
  return sign(x509, authority, {
    name: nameFrom(x509, attributes),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    notBefore,
    notAfter,
    extensions: [
      ...(flags === 0 ? [] : [new x509.KeyUsagesExtension(flags, true)]),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
}

/** The end of a certificate's life, in milliseconds since the epoch. */
export const endOf = (pem: string): number => Date.parse(new X509Certificate(pem).validTo);

/** Whether a stored leaf can go on serving: ours, covering these hosts, and with at least a third of its life left. */
export function isFresh(leaf: string, authority: string, hosts: readonly string[], now: number): boolean {
  try {
    const certificate = new X509Certificate(leaf);
    if (!certificate.verify(new X509Certificate(authority).publicKey)) return false;
    if (now >= renewAt(leaf)) return false;
    return hosts.every((host) =>
      isIP(host) === 0 ? certificate.checkHost(host) !== undefined : certificate.checkIP(host) !== undefined,
    );
  } catch {
    return false;
  }
}

/** The moment two thirds of a certificate's life are over. */
export function renewAt(pem: string): number {
  const { validFrom, validTo } = new X509Certificate(pem);
  const from = Date.parse(validFrom);
  return from + ((Date.parse(validTo) - from) * 2) / 3;
}

/** A positive number: the first bit must be clear. */
const serialNumber = (): string => Buffer.concat([Buffer.from([0x01]), randomBytes(15)]).toString('hex');

function generateKeys() {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(x509: X509, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function nameOf(x509: X509, { commonName, organizations = [] }: CertificateSubject) {
  return nameFrom(x509, [
    ...organizations.map((value) => ({ type: ORGANIZATION, value })),
    { type: COMMON_NAME, value: commonName },
  ]);
}

/** From values, each an attribute of its own. The library would read escapes and `#…` in a plain text. */
function nameFrom(x509: X509, attributes: readonly NameAttribute[]) {
  return new x509.Name(attributes.map(({ type, value }) => ({ [type]: [{ utf8String: value }] })));
}

interface Leaf {
  readonly name: ReturnType<typeof nameFrom>;
  /** SPKI, DER. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: InstanceType<X509['Extension']>[];
}

async function issue(
  x509: X509,
  authority: KeyPair,
  { subject, validity, extension }: { subject: CertificateSubject; validity: Validity; extension: Leaf['extensions'] },
): Promise<KeyPair> {
  const keys = await generateKeys();
  const { keyEncipherment, digitalSignature } = x509.KeyUsageFlags;
  const certificate = await sign(x509, authority, {
    name: nameOf(x509, subject),
    publicKey: new Uint8Array(await webcrypto.subtle.exportKey('spki', keys.publicKey)),
    notBefore: validity.now - BACKDATE_MS,
    notAfter: validity.now + validity.days * DAY_MS,
    extensions: [new x509.KeyUsagesExtension(digitalSignature | keyEncipherment, true), ...extension],
  });
  return { certificate, key: await exportKey(x509, keys.privateKey) };
}

async function sign(x509: X509, authority: KeyPair, leaf: Leaf): Promise<string> {
  const issuer = new x509.X509Certificate(authority.certificate);
  const [der] = x509.PemConverter.decode(authority.key);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der as ArrayBuffer, ALGORITHM, false, ['sign']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    notBefore: new Date(leaf.notBefore),
    notAfter: new Date(leaf.notAfter),
    signingAlgorithm: ALGORITHM,
    subject: leaf.name,
    issuer: issuer.subjectName,
    publicKey: leaf.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...leaf.extensions,
    ],
  });
  return certificate.toString('pem');
}
