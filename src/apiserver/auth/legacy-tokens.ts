/**
 * Tokens that do not end, kept in Secrets of type `kubernetes.io/service-account-token`. One works while its Secret holds
 * it and its account is there; the Secret says on which day it was last used.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../api/generated/core-v1.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import type { ApiObject } from '../exchange/object.ts';
import { TokenSigner } from './token-signer.ts';

const ISSUER = 'kubernetes/serviceaccount';
const CLAIM = 'kubernetes.io/serviceaccount';
const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

interface LegacyClaims {
  readonly iss: typeof ISSUER;
  readonly sub: string;
  readonly 'kubernetes.io/serviceaccount/namespace': string;
  readonly 'kubernetes.io/serviceaccount/secret.name': string;
  readonly 'kubernetes.io/serviceaccount/service-account.name': string;
  readonly 'kubernetes.io/serviceaccount/service-account.uid': string;
}

export interface LegacySubject {
  readonly namespace: string;
  readonly account: { readonly name: string; readonly uid: string };
  readonly secret: string;
}

/** For the controller that fills such Secrets. */
export function legacyTokenIssuer(privateKey: string): (subject: LegacySubject) => string {
  const signer = new TokenSigner(privateKey);
  return ({ account, namespace, secret }) =>
    signer.sign({
      iss: ISSUER,
      [`${CLAIM}/namespace`]: namespace,
      [`${CLAIM}/secret.name`]: secret,
      [`${CLAIM}/service-account.name`]: account.name,
      [`${CLAIM}/service-account.uid`]: account.uid,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    });
}

export function isLegacy(claims: object): claims is LegacyClaims {
  return (claims as Partial<LegacyClaims>).iss === ISSUER;
}

/** A token was used on a day that its Secret does not say yet. */
export interface TokenUse {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type LegacyVerdict =
  | { readonly subject: LegacySubject; readonly username: string }
  | { readonly problem: string };

export interface LegacyOptions {
  readonly reads: StoredReads;
  readonly clock: Clock;
  readonly used: (use: TokenUse) => void;
}

export class LegacyTokens {
  readonly #options: LegacyOptions;
  /** The day that was told of each Secret: until it is written, every request would tell it again. */
  readonly #told = new Map<string, string>();

  constructor(options: LegacyOptions) {
    this.#options = options;
  }

  check(token: string, claims: LegacyClaims): LegacyVerdict {
    const subject = subjectOf(claims);
    const { account, namespace, secret: name } = subject;
    if (claims.sub !== `system:serviceaccount:${namespace}:${account.name}`) return { problem: 'sub claim is invalid' };
    const { reads } = this.#options;
    const secret = readStored<ApiObject & Secret>(reads, { group: '', plural: 'secrets' }, namespace, name);
    if (secret === undefined || secret.metadata.deletionTimestamp) return { problem: 'Token has been invalidated' };
    if (!sameText(secret.data?.['token'] ?? '', token)) return { problem: "Token does not match server's copy" };
    const stored = readStored(reads, { group: '', plural: 'serviceaccounts' }, namespace, account.name);
    if (stored === undefined || stored.metadata.deletionTimestamp) {
      return { problem: `ServiceAccount ${namespace}/${account.name} has been deleted` };
    }
    const { uid = '' } = stored.metadata;
    if (uid !== account.uid) return { problem: `ServiceAccount UID (${uid}) does not match claim (${account.uid})` };
    this.#noteUse(namespace, secret);
    if (secret.metadata.labels?.[INVALID_SINCE]) {
      return {
        problem: `the token in secret ${namespace}/${name} for service account ${namespace}/${account.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`,
      };
    }
    return { subject, username: claims.sub };
  }

  #noteUse(namespace: string, { metadata }: ApiObject): void {
    const { clock, used } = this.#options;
    const { labels, name = '', uid = '' } = metadata;
    const today = dayOf(clock.now());
    const known = labels?.[LAST_USED];
    // A clock that is ahead may have written tomorrow.
    if (known === today || known === dayOf(clock.now() + 24 * 3_600_000) || this.#told.get(uid) === today) return;
    this.#told.set(uid, today);
    used({ namespace, name, uid, labels: { [LAST_USED]: today } });
  }
}

const dayOf = (ms: number): string => formatTime(ms).slice(0, 10);

function subjectOf(claims: LegacyClaims): LegacySubject {
  return {
    namespace: claims[`${CLAIM}/namespace`],
    account: { name: claims[`${CLAIM}/service-account.name`], uid: claims[`${CLAIM}/service-account.uid`] },
    secret: claims[`${CLAIM}/secret.name`],
  };
}

/** `stored` is in base64. */
function sameText(stored: string, token: string): boolean {
  const [a, b] = [Buffer.from(stored, 'base64'), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
