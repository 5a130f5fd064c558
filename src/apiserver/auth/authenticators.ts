/** Ways to say who one is. Each looks for credentials of its own kind only. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResult, Authenticator } from '../access/access.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import type { UserInfo } from '../exchange/user.ts';
import type { ServiceAccountTokens } from './tokens.ts';

/** Callers in the same process are trusted to name themselves. */
export const inProcess: Authenticator = {
  name: 'in-process',
  authenticate: ({ peer }) => peer.user,
};

/** The HTTP layer hands over only certificates that our CA signed: CN is the user, each O a group. */
export const clientCertificates: Authenticator = {
  name: 'client-certificate',
  authenticate({ peer: { certificate, certificateRefused } }): AuthenticationResult {
    if (certificateRefused) return 'invalid';
    if (certificate === undefined || certificate.commonName === '') return undefined;
    return { username: certificate.commonName, groups: certificate.organizations };
  },
};

export function bearerToken({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const found = /^bearer +(.*)$/i.exec(headers['authorization'] ?? '');
  const token = found?.[1]?.trim();
  return token === '' ? undefined : token;
}

export interface TokenIdentity {
  readonly token: string;
  readonly user: UserInfo;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export function findStaticUser(known: readonly TokenIdentity[], token: string): UserInfo | undefined {
  const given = digest(token);
  // Every digest is compared, so the time taken says nothing about which token came close.
  let user: UserInfo | undefined;
  for (const identity of known) if (timingSafeEqual(given, digest(identity.token))) user = identity.user;
  return user;
}

export function staticTokens(known: readonly TokenIdentity[]): Authenticator {
  return {
    name: 'static-token',
    authenticate(request) {
      const token = bearerToken(request);
      return token === undefined ? undefined : (findStaticUser(known, token) ?? 'invalid');
    },
  };
}

export function serviceAccountTokens(tokens: ServiceAccountTokens): Authenticator {
  return {
    name: 'service-account-token',
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return undefined;
      const verdict = tokens.check(token);
      return verdict?.valid ? verdict.user : 'invalid';
    },
  };
}
