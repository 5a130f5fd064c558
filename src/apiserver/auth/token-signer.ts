import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** Tokens whose signature was checked; whatever else is to be checked is looked at on every use. */
const CACHE_SIZE = 4096;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** JSON Web Tokens by one key, ES256. What they say is up to others. */
export class TokenSigner {
  readonly keyId: string;
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  readonly #known = new Map<string, object>();

  /** PEM, P-256. */
  constructor(privateKey: string) {
    this.#private = createPrivateKey(privateKey);
    this.#public = createPublicKey(this.#private);
    const der = this.#public.export({ type: 'spki', format: 'der' });
    this.keyId = createHash('sha256').update(der).digest('base64url');
  }

  sign(claims: object): string {
    const text = `${encode({ alg: 'ES256', kid: this.keyId })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that was signed with this key. */
  read(token: string): object | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const parts = token.split('.');
    if (parts.length !== 3) return undefined;
    const [header, payload, signature] = parts as [string, string, string];
    const head = parseJson(header) as { alg?: unknown } | undefined;
    const claims = parseJson(payload);
    if (head?.alg !== 'ES256' || typeof claims !== 'object' || claims === null) return undefined;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) {
      return undefined;
    }
    if (this.#known.size >= CACHE_SIZE) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(token, claims);
    return claims;
  }

  publicKey(): JsonWebKey {
    return this.#public.export({ format: 'jwk' });
  }
}

function parseJson(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
