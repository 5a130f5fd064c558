/**
 * Certificates of the embedded control plane: one CA, and leaves it signs. All keys are ECDSA P-256.
 * The X.509 library is slow to load, so it is imported only when something must be issued.
 */
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

export interface KeyPair {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface Subject {
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
/** Object identifier of the extension. */
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
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
    ...common(validity),
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
  const keys = await generateKeys();
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const certificate = await sign(x509, authority, { commonName }, keys.publicKey, validity, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(names),
  ]);
  return { certificate, key: await exportKey(x509, keys.privateKey) };
}

export async function issueClient(authority: KeyPair, subject: Subject, validity: Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await sign(x509, authority, subject, keys.publicKey, validity, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
  ]);
  return { certificate, key: await exportKey(x509, keys.privateKey) };
}

export interface ReadRequest {
  readonly subject: Subject;
  /** Subject alternative names, which no signer of ours grants. */
  readonly hasAlternativeNames: boolean;
}

/** Reads a PEM certificate request and checks its signature; undefined when it is not one. */
export async function readRequest(pem: string): Promise<ReadRequest | undefined> {
  const x509 = await loadX509();
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    if (!(await request.verify())) return undefined;
    const name = request.subjectName;
    return {
      subject: { commonName: name.getField('CN')[0] ?? '', organizations: name.getField('O') },
      hasAlternativeNames: request.getExtension(SUBJECT_ALTERNATIVE_NAME) !== null,
    };
  } catch {
    return undefined;
  }
}

/** Signs the key and subject of a request as a client certificate. */
export async function signClientRequest(authority: KeyPair, pem: string, validity: Validity): Promise<string> {
  const x509 = await loadX509();
  const request = new x509.Pkcs10CertificateRequest(pem);
  const name = request.subjectName;
  const subject = { commonName: name.getField('CN')[0] ?? '', organizations: name.getField('O') };
  return sign(x509, authority, subject, await request.publicKey.export(), validity, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
  ]);
}

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

function common({ now, days }: Validity) {
  return {
    // A positive serial: the first bit must be clear.
    serialNumber: Buffer.concat([Buffer.from([0x01]), randomBytes(15)]).toString('hex'),
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(now + days * DAY_MS),
    signingAlgorithm: ALGORITHM,
  };
}

function generateKeys() {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(x509: X509, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function nameOf(x509: X509, { commonName, organizations = [] }: Subject): string {
  const parts = [...organizations.map((value) => ({ O: [value] })), { CN: [commonName] }];
  return new x509.Name(parts).toString();
}

async function sign(
  x509: X509,
  authority: KeyPair,
  subject: Subject,
  publicKey: webcrypto.CryptoKey,
  validity: Validity,
  extensions: InstanceType<X509['Extension']>[],
): Promise<string> {
  const issuer = new x509.X509Certificate(authority.certificate);
  const [der] = x509.PemConverter.decode(authority.key);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der as ArrayBuffer, ALGORITHM, false, ['sign']);
  const certificate = await x509.X509CertificateGenerator.create({
    ...common(validity),
    subject: nameOf(x509, subject),
    issuer: issuer.subject,
    publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...extensions,
    ],
  });
  return certificate.toString('pem');
}
