/**
 * The secrets a control plane keeps: CA, serving certificate, admin certificate and token, and the key that signs
 * service-account tokens. They live in one directory that only its owner can read, or in memory for ephemeral planes.
 */
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../machinery/runtime/index.ts';
import {
  createAuthority,
  isFresh,
  issueClient,
  issueServer,
  type KeyPair,
  renewAt,
} from '../../machinery/runtime/certificates.ts';

export interface PkiOptions {
  /** Absent: nothing is written to disk. */
  readonly directory?: string;
  readonly clock: Clock;
  /** Addresses and names the server is reached by, beyond loopback and the in-cluster names. */
  readonly hosts?: readonly string[];
  /** ClusterIP of the Service `default/kubernetes`. */
  readonly serviceAddress?: string;
}

const CA_DAYS = 3650;
const LEAF_DAYS = 365;
/** Not when its dates say: a machine that slept would be late by as long. */
const LOOK_EVERY_MS = 60_000;
const LEAST_LIFE_MS = 3_600_000;

const ALWAYS_SERVED = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/** Addresses that mean "every interface" and so name no host. */
const UNSPECIFIED = new Set(['0.0.0.0', '::', '']);

export class Pki {
  readonly authority: KeyPair;
  readonly admin: KeyPair;
  /** Signs the certificate by which other API servers believe what we say of who asks; it signs nothing else. */
  readonly frontProxyAuthority: KeyPair;
  readonly frontProxy: KeyPair;
  /** Bearer token of the administrator. */
  readonly adminToken: string;
  /** PEM private key (P-256) that signs service-account tokens. */
  readonly serviceAccountKey: string;
  #server: KeyPair;
  readonly #files: SecretFiles;
  readonly #clock: Clock;
  /** Addresses and names that the serving certificate covers. */
  readonly hosts: readonly string[];

  constructor(
    parts: Pick<
      Pki,
      'authority' | 'admin' | 'adminToken' | 'frontProxy' | 'frontProxyAuthority' | 'serviceAccountKey' | 'server'
    >,
    files: SecretFiles,
    clock: Clock,
    hosts: readonly string[],
  ) {
    this.authority = parts.authority;
    this.admin = parts.admin;
    this.adminToken = parts.adminToken;
    this.frontProxyAuthority = parts.frontProxyAuthority;
    this.frontProxy = parts.frontProxy;
    this.serviceAccountKey = parts.serviceAccountKey;
    this.#server = parts.server;
    this.#files = files;
    this.#clock = clock;
    this.hosts = hosts;
  }

  get server(): KeyPair {
    return this.#server;
  }

  /**
   * Looks after the serving certificate: a new one when two thirds of its life are over or, on a clock that was set back,
   * its life has not begun; the stored one where somebody has put another there. `use` puts it in use
   * (`server.setSecureContext`).
   */
  keepServerFresh(use: (pair: KeyPair) => void, failed: (error: unknown) => void): CertificateKeeper {
    let cancel: () => void = () => {};
    let stopped = false;
    const look = async (): Promise<void> => {
      cancel();
      try {
        const next = this.#stored() ?? (isCurrent(this.#server, this.#clock.now()) ? undefined : await this.#issue());
        if (next !== undefined && !stopped) {
          use(next);
          this.#server = next;
        }
      } catch (error) {
        failed(error);
      }
      if (!stopped) cancel = this.#clock.after(LOOK_EVERY_MS, () => void look());
    };
    cancel = this.#clock.after(LOOK_EVERY_MS, () => void look());
    return {
      look,
      stop() {
        stopped = true;
        cancel();
      },
    };
  }

  /** What is wrong with the certificate that is served; undefined where nothing is. */
  problem(): string | undefined {
    const { validFrom, validTo } = new X509Certificate(this.#server.certificate);
    const now = this.#clock.now();
    if (now < Date.parse(validFrom)) return `it is not valid before ${validFrom}: is the clock of this machine right?`;
    if (Date.parse(validTo) - now < LEAST_LIFE_MS) return `it ends at ${validTo}`;
    const stored = this.#files.readPair('server');
    return stored === undefined || stored.certificate === this.#server.certificate
      ? undefined
      : 'it is not the one that is stored in pki/server.crt, which cannot be used: put back the old one, or restart';
  }

  /** Another pair than the one that is served, which can be. */
  #stored(): KeyPair | undefined {
    const stored = this.#files.readPair('server');
    if (stored === undefined || stored.certificate === this.#server.certificate) return undefined;
    const { certificate } = this.authority;
    return isFresh(stored.certificate, certificate, this.hosts, this.#clock.now()) ? stored : undefined;
  }

  async #issue(): Promise<KeyPair> {
    const validity = { now: this.#clock.now(), days: LEAF_DAYS };
    const issued = await issueServer(this.authority, 'kube-apiserver', this.hosts, validity);
    this.#files.writePair('server', issued);
    return issued;
  }
}

export interface CertificateKeeper {
  /** Looks now, as after the clock was set. */
  look(): Promise<void>;
  stop(): void;
}

function isCurrent({ certificate }: KeyPair, now: number): boolean {
  return now < renewAt(certificate) && now >= Date.parse(new X509Certificate(certificate).validFrom);
}

/** Reads what is there, makes what is missing, and replaces leaves that are old or do not cover the hosts. */
export async function openPki({ directory, clock, hosts = [], serviceAddress }: PkiOptions): Promise<Pki> {
  const files = directory === undefined ? memoryFiles() : directoryFiles(directory);
  const now = clock.now();
  const leaf = { now, days: LEAF_DAYS };
  const names = [
    ...new Set([...ALWAYS_SERVED, ...(serviceAddress === undefined ? [] : [serviceAddress]), ...hosts]),
  ].filter((host) => !UNSPECIFIED.has(host));

  let authority = files.readPair('ca');
  if (authority === undefined) {
    authority = await createAuthority('quorate-ca', { now, days: CA_DAYS });
    files.writePair('ca', authority);
  }
  let server = files.readPair('server');
  if (server === undefined || !isFresh(server.certificate, authority.certificate, names, now)) {
    server = await issueServer(authority, 'kube-apiserver', names, leaf);
    files.writePair('server', server);
  }
  let admin = files.readPair('admin');
  if (admin === undefined || !isFresh(admin.certificate, authority.certificate, [], now)) {
    const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
    admin = await issueClient(authority, subject, leaf);
    files.writePair('admin', admin);
  }
  const proxies = await openFrontProxy(files, now);
  const adminToken = files.readOrMake('admin.token', () => randomBytes(32).toString('base64url'));
  const serviceAccountKey = files.readOrMake('service-account.key', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  });
  return new Pki({ authority, admin, adminToken, ...proxies, serviceAccountKey, server }, files, clock, names);
}

/** The name that other servers are told to believe. */
export const FRONT_PROXY = 'front-proxy-client';

async function openFrontProxy(
  files: SecretFiles,
  now: number,
): Promise<Pick<Pki, 'frontProxy' | 'frontProxyAuthority'>> {
  let frontProxyAuthority = files.readPair('front-proxy-ca');
  if (frontProxyAuthority === undefined) {
    frontProxyAuthority = await createAuthority('front-proxy-ca', { now, days: CA_DAYS });
    files.writePair('front-proxy-ca', frontProxyAuthority);
  }
  let frontProxy = files.readPair('front-proxy-client');
  if (frontProxy === undefined || !isFresh(frontProxy.certificate, frontProxyAuthority.certificate, [], now)) {
    const subject = { commonName: FRONT_PROXY, organizations: [] };
    frontProxy = await issueClient(frontProxyAuthority, subject, { now, days: LEAF_DAYS });
    files.writePair('front-proxy-client', frontProxy);
  }
  return { frontProxy, frontProxyAuthority };
}

interface SecretFiles {
  readPair(name: string): KeyPair | undefined;
  writePair(name: string, pair: KeyPair): void;
  readOrMake(name: string, make: () => string): string;
}

function memoryFiles(): SecretFiles {
  return { readPair: () => undefined, writePair: () => {}, readOrMake: (_name, make) => make() };
}

function directoryFiles(directory: string): SecretFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The directory may come from an older start or another hand with a wider mode.
  chmodSync(directory, 0o700);
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(join(directory, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`Cannot read ${join(directory, name)}: ${(error as Error).message}`, { cause: error });
    }
  };
  const write = (name: string, text: string): void => writePrivateFile(join(directory, name), text);
  return {
    readPair(name) {
      const certificate = read(`${name}.crt`);
      const key = read(`${name}.key`);
      return certificate === undefined || key === undefined ? undefined : { certificate, key };
    },
    writePair(name, { certificate, key }) {
      write(`${name}.key`, key);
      write(`${name}.crt`, certificate);
    },
    readOrMake(name, make) {
      const found = read(name);
      if (found !== undefined) return found.endsWith('\n') && !found.startsWith('-----') ? found.trimEnd() : found;
      const made = make();
      write(name, made);
      return made;
    },
  };
}

/** Replaces the file in one step; only its owner can read it, also while it is being written. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}
