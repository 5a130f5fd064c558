import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../api/generated/core-v1.ts';
import { secretType } from '../../api/resource-types.ts';
import { createAuthority, isFresh, issueServer, type KeyPair, renewAt } from '../../machinery/runtime/certificates.ts';
import {
  type Client,
  type Clock,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Logger,
} from '../../machinery/runtime/index.ts';
import { CERTIFICATE_SECRET, labels } from '../../webhook/index.ts';

export interface ServingCertificate {
  readonly pair: KeyPair;
  /** PEM of the authority that API servers must trust. */
  readonly authority: string;
}

const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;
const LOOK_AGAIN_MS = 60_000;

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

/**
 * The certificate all replicas serve with, kept in a Secret with its authority. Whoever finds it missing or old makes a
 * new one; a replica that comes second takes what the first has made.
 */
export async function ensureCertificate(options: OwnCertificateOptions): Promise<ServingCertificate> {
  const { client, clock, hosts, namespace } = options;
  for (;;) {
    const secret = await readSecret(client, namespace);
    const stored = secret === undefined ? undefined : fromSecret(secret);
    if (stored !== undefined && isFresh(stored.pair.certificate, stored.authority.certificate, hosts, clock.now())) {
      return { pair: stored.pair, authority: stored.authority.certificate };
    }
    const now = clock.now();
    const authority = stored?.authority ?? (await createAuthority('quorate-webhook-ca', { now, days: AUTHORITY_DAYS }));
    const pair = await issueServer(authority, 'quorate-webhook', hosts, { now, days: SERVING_DAYS });
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
      return { pair, authority: authority.certificate };
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
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
      const found = await ensureCertificate(options);
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
    // Another replica may renew first, so this looks well before it would renew itself.
    const waitMs = Math.max(LOOK_AGAIN_MS, Math.min(renewAt(held.pair.certificate) - clock.now(), 12 * 3_600_000));
    const cancel = clock.after(waitMs, () => void look());
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
}

async function readSecret(client: Client, namespace: string): Promise<Secret | undefined> {
  try {
    return await client.get(secretType, { namespace, name: CERTIFICATE_SECRET });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function fromSecret({ data = {} }: Secret): { authority: KeyPair; pair: KeyPair } | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  const authority = { certificate: text('ca.crt'), key: text('ca.key') };
  const pair = { certificate: text('tls.crt'), key: text('tls.key') };
  return [authority.certificate, authority.key, pair.certificate, pair.key].includes('')
    ? undefined
    : { authority, pair };
}

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
