/**
 * Service-account tokens: JSON Web Tokens signed with ES256. A token names its service account and may be bound to a
 * pod, node or secret; it stops working when any of them is gone or has been made anew.
 */
import type { Clock } from '../../machinery/runtime/index.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import type { UserInfo } from '../exchange/user.ts';
import { isLegacy, LegacyTokens, type TokenUse } from './legacy-tokens.ts';
import { TokenSigner } from './token-signer.ts';

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
  /** Told when a token that does not end is used, once a day for each. */
  readonly used?: ((use: TokenUse) => void) | undefined;
}

/** A token of a pod that is going away works a little longer, so that the pod can say goodbye. */
const DELETION_LEEWAY_MS = 60_000;
const CREDENTIAL = 'authentication.kubernetes.io';

export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #reads: StoredReads;
  readonly #clock: Clock;
  readonly #newUid: () => string;
  readonly #signer: TokenSigner;
  readonly #legacy: LegacyTokens;

  constructor({ reads, privateKey, issuer, clock, newUid, used = () => {} }: TokenOptions) {
    this.issuer = issuer;
    this.#reads = reads;
    this.#clock = clock;
    this.#newUid = newUid;
    this.#signer = new TokenSigner(privateKey);
    this.#legacy = new LegacyTokens({ reads, clock, used });
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
    return this.#signer.sign(claims);
  }

  /** Undefined when the text is not a token of this issuer, so that somebody else may know it. */
  check(token: string, audiences: readonly string[] = [this.issuer]): TokenVerdict | undefined {
    const signed = this.#signer.read(token);
    if (signed === undefined) return undefined;
    if (isLegacy(signed)) return this.#checkLegacy(token, signed, audiences);
    const claims = signed as TokenClaims;
    if (claims.iss !== this.issuer || !Array.isArray(claims.aud)) return undefined;
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
    const { kty, crv, x, y } = this.#signer.publicKey();
    return { keys: [{ use: 'sig', kty, kid: this.#signer.keyId, crv, alg: 'ES256', x, y }] };
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

  #checkLegacy(
    token: string,
    claims: Parameters<LegacyTokens['check']>[1],
    audiences: readonly string[],
  ): TokenVerdict {
    const verdict = this.#legacy.check(token, claims);
    if ('problem' in verdict) return refuse(verdict.problem);
    // They were made for this server alone.
    const shared = audiences.filter((audience) => audience === this.issuer);
    if (shared.length === 0) return refuse(`token audiences ${JSON.stringify([this.issuer])} is invalid`);
    const { account, namespace } = verdict.subject;
    const user = { username: verdict.username, uid: account.uid, groups: serviceAccountGroups(namespace) };
    return { valid: true, user, audiences: shared };
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
