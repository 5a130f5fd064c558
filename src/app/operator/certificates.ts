import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../api/generated/core-v1.ts';
import { secretType } from '../../api/resource-types.ts';
import { createAuthority, isFresh, issueServer, type KeyPair } from '../../machinery/runtime/certificates.ts';
import { type Client, type Clock, isAlreadyExists, isConflict, type Logger } from '../../machinery/runtime/index.ts';
import { CERTIFICATE_SECRET, labels } from '../../webhook/index.ts';
import { existing } from './existing.ts';

export interface ServingCertificate {
  readonly pair: KeyPair;
  /** PEM of the authority that API servers must trust. */
  readonly authority: string;
  /** PEM of its key, where it is ours. */
  readonly authorityKey?: string | undefined;
}

const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;
/** Often: a Secret that was deleted is put back before a replica that starts makes another authority. */
const LOOK_AGAIN_MS = 10_000;

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

const FOLLOW_MS = 10_000;

/** Puts a certificate that somebody else renews in use when it changes. */
export function followCertificate(
  folder: string,
  { clock, log, signal }: { clock: Clock; log: Logger; signal: AbortSignal },
  current: ServingCertificate,
  renewed: (certificate: ServingCertificate) => void,
): void {
  let held = current;
  let complained = '';
  const look = (): void => {
    try {
      const found = readCertificate(folder, clock.now());
      if (found.pair.certificate !== held.pair.certificate || found.authority !== held.authority) {
        held = found;
        log.info({ folder }, 'serving with a renewed certificate');
        renewed(found);
      }
      complained = '';
    } catch (error) {
      // Files change one after the other; only what stays wrong is worth a line.
      if (String(error) !== complained) log.error({ folder, error: String(error) }, 'cannot follow the certificate');
      complained = String(error);
    }
    arm();
  };
  const arm = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(FOLLOW_MS, look);
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
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
  for (;;) {
    const secret = await existing(client.get(secretType, { namespace, name: CERTIFICATE_SECRET }));
    const stored = secret === undefined ? ownPart(held) : fromSecret(secret);
    if (secret !== undefined && stored !== undefined && isGood(stored)) return served(stored);
    const { authority, pair } = stored !== undefined && isGood(stored) ? stored : await issue(stored, options);
    const data = {
      'ca.crt': encode(authority.certificate),
      'ca.key': encode(authority.key),
      'tls.crt': encode(pair.certificate),
      'tls.key': encode(pair.key),
    };
    try {
      if (secret === undefined) {
        await client.create(secretType, {
          metadata: { name: CERTIFICATE_SECRET, namespace, labels },
          type: 'Opaque',
          data,
        });
      } else {
        await client.update(secretType, { ...secret, data });
      }
      return served({ authority, pair });
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
}

async function issue(
  stored: OwnCertificate | undefined,
  { clock, hosts }: OwnCertificateOptions,
): Promise<OwnCertificate> {
  const now = clock.now();
  const authority = stored?.authority ?? (await createAuthority('quorate-webhook-ca', { now, days: AUTHORITY_DAYS }));
  return { authority, pair: await issueServer(authority, 'quorate-webhook', hosts, { now, days: SERVING_DAYS }) };
}

const served = ({ authority, pair }: OwnCertificate): ServingCertificate => ({
  pair,
  authority: authority.certificate,
  authorityKey: authority.key,
});

function ownPart(held: ServingCertificate | undefined): OwnCertificate | undefined {
  if (held?.authorityKey === undefined) return undefined;
  return { authority: { certificate: held.authority, key: held.authorityKey }, pair: held.pair };
}

/** Looks after the certificate for as long as the process runs; `renewed` puts a new one in use. */
export function keepCertificateFresh(
  options: OwnCertificateOptions & { readonly log: Logger; readonly signal: AbortSignal },
  current: ServingCertificate,
  renewed: (certificate: ServingCertificate) => void,
): void {
  const { clock, log, signal } = options;
  let held = current;
  const look = async (): Promise<void> => {
    try {
      const found = await ensureCertificate(options, held);
      if (found.pair.certificate !== held.pair.certificate) {
        held = found;
        renewed(found);
      }
    } catch (error) {
      log.error({ error: String(error) }, 'cannot look after the serving certificate');
    }
    arm();
  };
  const arm = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(LOOK_AGAIN_MS, () => void look());
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
}

function fromSecret({ data = {} }: Secret): OwnCertificate | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  const authority = { certificate: text('ca.crt'), key: text('ca.key') };
  const pair = { certificate: text('tls.crt'), key: text('tls.key') };
  return [authority.certificate, authority.key, pair.certificate, pair.key].includes('')
    ? undefined
    : { authority, pair };
}

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
