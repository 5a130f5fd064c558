import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, isFresh, issueServer, type KeyPair } from '../../machinery/runtime/certificates.ts';
import type { Client, Clock, Logger } from '../../machinery/runtime/index.ts';
import { CERTIFICATE_SECRET } from '../../webhook/index.ts';
import { ensureShared, type SecretTexts } from './shared-secret.ts';

export interface ServingCertificate {
  readonly pair: KeyPair;
  /** PEM of the authority that API servers must trust. */
  readonly authority: string;
  /** PEM of its key, where it is ours. */
  readonly authorityKey?: string | undefined;
}

const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;

/** Reads what somebody else (cert-manager) keeps in a folder. */
export function readCertificate(folder: string, now: number): ServingCertificate {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), 'utf8');
    } catch (cause) {
      throw new Error(`Cannot read the serving certificate: ${join(folder, name)} is missing or unreadable`, { cause });
    }
  };
  const pair = { certificate: read('tls.crt'), key: read('tls.key') };
  const until = new X509Certificate(pair.certificate).validTo;
  if (Date.parse(until) <= now) {
    throw new Error(`The serving certificate ${join(folder, 'tls.crt')} expired on ${until}: have it renewed`);
  }
  return { pair, authority: read('ca.crt') };
}

/** Often: a Secret that was deleted is put back before a replica that starts makes another authority. */
const LOOK_EVERY_MS = 10_000;
/** What could not be read for so long may have changed. */
const UNREAD_MS = 180_000;

export interface CertificateUpkeep {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Puts another certificate in use; what it throws means that it could not be. */
  readonly use: (certificate: ServingCertificate) => void;
}

/** Why what is served is not what is stored; undefined where it is. */
export type NotStored = () => string | undefined;

/** Puts a certificate that somebody else renews in use when it changes. */
export function followCertificate(folder: string, upkeep: CertificateUpkeep, current: ServingCertificate): NotStored {
  const read = () => Promise.resolve().then(() => readCertificate(folder, upkeep.clock.now()));
  return serveStored({ ...upkeep, where: folder, read }, current);
}

/**
 * Looks after the Secret's certificate for as long as the process runs: whoever finds it old makes a new one, and
 * everybody serves what is stored.
 */
export function keepCertificateFresh(
  options: OwnCertificateOptions,
  upkeep: CertificateUpkeep,
  current: ServingCertificate,
): NotStored {
  const where = `Secret ${options.namespace}/${CERTIFICATE_SECRET}`;
  return serveStored({ ...upkeep, where, read: (held) => ensureCertificate(options, held) }, current);
}

interface StoredCertificate extends CertificateUpkeep {
  readonly where: string;
  /** What is stored; `held` is what was served so far. */
  readonly read: (held: ServingCertificate) => Promise<ServingCertificate>;
}

function serveStored(stored: StoredCertificate, current: ServingCertificate): NotStored {
  const { clock, log, read, signal, use, where } = stored;
  let served = current;
  let unusable: string | undefined;
  let readMs = clock.elapsed();
  let complained = '';
  let cancel = (): void => {};
  const look = async (): Promise<void> => {
    try {
      const found = await read(served);
      readMs = clock.elapsed();
      if (found.pair.certificate !== served.pair.certificate || found.authority !== served.authority) {
        unusable = `${where} has another one`;
        use(found);
        served = found;
        log.info({ where }, 'serving with a renewed certificate');
      }
      unusable = undefined;
      complained = '';
    } catch (error) {
      if (unusable !== undefined) unusable = `${where} has another one, which cannot be used: ${String(error)}`;
      // Files change one after the other; only what stays wrong is worth a line.
      if (String(error) !== complained) log.error({ where, error: String(error) }, 'cannot follow the certificate');
      complained = String(error);
    }
    arm();
  };
  const arm = (): void => {
    if (!signal.aborted) cancel = clock.after(LOOK_EVERY_MS, () => void look());
  };
  arm();
  signal.addEventListener('abort', () => cancel(), { once: true });
  return () => {
    const unreadMs = clock.elapsed() - readMs;
    if (unusable !== undefined || unreadMs < UNREAD_MS) return unusable;
    return `${where} could not be read for ${Math.round(unreadMs / 1000)} s: ${complained}`;
  };
}

export interface OwnCertificateOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly hosts: readonly string[];
}

interface OwnCertificate {
  readonly authority: KeyPair;
  readonly pair: KeyPair;
}

/**
 * The certificate all replicas serve with, kept in a Secret with its authority. Whoever finds it missing or old makes a
 * new one; a replica that comes second takes what the first has made. One that serves with a certificate whose Secret is
 * gone puts that one back.
 */
export async function ensureCertificate(
  options: OwnCertificateOptions,
  held?: ServingCertificate,
): Promise<ServingCertificate> {
  const { client, clock, hosts, namespace } = options;
  const isGood = ({ authority, pair }: OwnCertificate): boolean =>
    isFresh(pair.certificate, authority.certificate, hosts, clock.now());
  const own = await ensureShared<OwnCertificate>({
    client,
    namespace,
    name: CERTIFICATE_SECRET,
    read: readTexts,
    write: ({ authority, pair }) => ({
      'ca.crt': authority.certificate,
      'ca.key': authority.key,
      'tls.crt': pair.certificate,
      'tls.key': pair.key,
    }),
    isGood,
    renew(stored, missing) {
      const known = missing ? ownPart(held) : stored;
      return known !== undefined && isGood(known) ? known : issue(known, options);
    },
  });
  return { pair: own.pair, authority: own.authority.certificate, authorityKey: own.authority.key };
}

async function issue(
  stored: OwnCertificate | undefined,
  { clock, hosts }: OwnCertificateOptions,
): Promise<OwnCertificate> {
  const now = clock.now();
  const authority = stored?.authority ?? (await createAuthority('quorate-webhook-ca', { now, days: AUTHORITY_DAYS }));
  return { authority, pair: await issueServer(authority, 'quorate-webhook', hosts, { now, days: SERVING_DAYS }) };
}

function ownPart(held: ServingCertificate | undefined): OwnCertificate | undefined {
  if (held?.authorityKey === undefined) return undefined;
  return { authority: { certificate: held.authority, key: held.authorityKey }, pair: held.pair };
}

function readTexts(texts: SecretTexts): OwnCertificate | undefined {
  const [ca, caKey, certificate, key] = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].map((name) => texts[name]);
  if (!ca || !caKey || !certificate || !key) return undefined;
  return { authority: { certificate: ca, key: caKey }, pair: { certificate, key } };
}
