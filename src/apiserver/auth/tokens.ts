/**
 * Service-account tokens: JSON Web Tokens signed with ES256. A token names its service account and may be bound to a
 * pod, node or secret; it stops working when any of them is gone or has been made anew.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Clock } from '../../machinery/runtime/index.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import type { UserInfo } from '../exchange/user.ts';

export interface BoundObject {
  readonly name: string;
  readonly uid: string;
}

export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: BoundObject;
    readonly pod?: BoundObject;
    readonly node?: BoundObject;
    readonly secret?: BoundObject;
  };
}

export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: BoundObject;
  readonly pod?: BoundObject;
  readonly node?: BoundObject;
  readonly secret?: BoundObject;
}

export type TokenVerdict =
  | { readonly valid: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly valid: false; readonly reason: string };

export interface TokenOptions {
  readonly reads: StoredReads;
  /** PEM, P-256. */
  readonly privateKey: string;
  readonly issuer: string;
  readonly clock: Clock;
  readonly newUid: () => string;
}

const SIGNED_CACHE_SIZE = 4096;
/** A token of a pod that is going away works a little longer, so that the pod can say goodbye. */
const DELETION_LEEWAY_MS = 60_000;
const CREDENTIAL = 'authentication.kubernetes.io';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #reads: StoredReads;
  readonly #clock: Clock;
  readonly #newUid: () => string;
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  readonly #keyId: string;
  /** Tokens whose signature was checked; the rest of the check is repeated on every use. */
  readonly #signed = new Map<string, TokenClaims>();

  constructor({ reads, privateKey, issuer, clock, newUid }: TokenOptions) {
    this.issuer = issuer;
    this.#reads = reads;
    this.#clock = clock;
    this.#newUid = newUid;
    this.#private = createPrivateKey(privateKey);
    this.#public = createPublicKey(this.#private);
    const der = this.#public.export({ type: 'spki', format: 'der' });
    this.#keyId = createHash('sha256').update(der).digest('base64url');
  }

  issue(subject: TokenSubject, audiences: readonly string[], expirationSeconds: number): string {
    const { namespace, serviceAccount, pod, node, secret } = subject;
    const now = Math.floor(this.#clock.now() / 1000);
    const claims: TokenClaims = {
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.#newUid(),
      'kubernetes.io': {
        namespace,
        ...(node && { node }),
        ...(pod && { pod }),
        ...(secret && { secret }),
        serviceaccount: serviceAccount,
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${serviceAccount.name}`,
    };
    const text = `${encode({ alg: 'ES256', kid: this.#keyId })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** Undefined when the text is not a token of this issuer, so that somebody else may know it. */
  check(token: string, audiences: readonly string[] = [this.issuer]): TokenVerdict | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    const now = this.#clock.now();
    if (now >= claims.exp * 1000) return refuse('service account token has expired');
    // `nbf` is not looked at: what this server signed was valid then, and its clock may have been set back since.
    const shared = audiences.filter((audience) => claims.aud.includes(audience));
    if (shared.length === 0) {
      return refuse(
        `token audiences ${JSON.stringify(claims.aud)} is invalid for the target audiences ${JSON.stringify(audiences)}`,
      );
    }
    const problem = this.#missing(claims['kubernetes.io'], now);
    return problem === undefined ? { valid: true, user: userOf(claims), audiences: shared } : refuse(problem);
  }

  /** The keys a verifier needs, as `/openid/v1/jwks` serves them. */
  keySet(): object {
    const { kty, crv, x, y } = this.#public.export({ format: 'jwk' });
    return { keys: [{ use: 'sig', kty, kid: this.#keyId, crv, alg: 'ES256', x, y }] };
  }

  /** What `/.well-known/openid-configuration` serves. */
  discovery(jwksUri: string): object {
    return {
      issuer: this.issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    };
  }

  #claimsOf(token: string): TokenClaims | undefined {
    const known = this.#signed.get(token);
    if (known !== undefined) return known;
    const parts = token.split('.');
    if (parts.length !== 3) return undefined;
    const [header, payload, signature] = parts as [string, string, string];
    const head = parseJson(header) as { alg?: unknown } | undefined;
    const claims = parseJson(payload) as TokenClaims | undefined;
    if (head?.alg !== 'ES256' || claims?.iss !== this.issuer || !Array.isArray(claims.aud)) return undefined;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) {
      return undefined;
    }
    if (this.#signed.size >= SIGNED_CACHE_SIZE) this.#signed.delete(this.#signed.keys().next().value as string);
    this.#signed.set(token, claims);
    return claims;
  }

  /** Why an object the token stands on no longer carries it. */
  #missing({ namespace, serviceaccount, pod, node, secret }: TokenClaims['kubernetes.io'], now: number) {
    const bound = [
      { plural: 'serviceaccounts', what: 'service account', object: serviceaccount, home: namespace },
      { plural: 'pods', what: 'pod', object: pod, home: namespace },
      { plural: 'secrets', what: 'secret', object: secret, home: namespace },
      { plural: 'nodes', what: 'node', object: pod === undefined ? node : undefined, home: undefined },
    ];
    for (const { plural, what, object, home } of bound) {
      if (object === undefined) continue;
      const stored = readStored(this.#reads, { group: '', plural }, home, object.name);
      const deleted = stored?.metadata.deletionTimestamp;
      if (
        stored === undefined ||
        stored.metadata.uid !== object.uid ||
        (deleted && Date.parse(deleted) + DELETION_LEEWAY_MS < now)
      ) {
        return `service account token has been invalidated: its ${what} "${object.name}" is gone`;
      }
    }
    return undefined;
  }
}

const refuse = (reason: string): TokenVerdict => ({ valid: false, reason });

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

function userOf({ sub, jti, 'kubernetes.io': bound }: TokenClaims): UserInfo {
  return {
    username: sub,
    uid: bound.serviceaccount.uid,
    groups: serviceAccountGroups(bound.namespace),
    extra: {
      [`${CREDENTIAL}/credential-id`]: [`JTI=${jti}`],
      ...(bound.node && {
        [`${CREDENTIAL}/node-name`]: [bound.node.name],
        [`${CREDENTIAL}/node-uid`]: [bound.node.uid],
      }),
      ...(bound.pod && {
        [`${CREDENTIAL}/pod-name`]: [bound.pod.name],
        [`${CREDENTIAL}/pod-uid`]: [bound.pod.uid],
      }),
    },
  };
}

function parseJson(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
