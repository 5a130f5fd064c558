/** From a request to the user it is made as: authentication, then impersonation. */
import type { Authenticator, Authorizer } from '../access/access.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import { unauthorized } from '../exchange/status.ts';
import { anonymous, type UserInfo } from '../exchange/user.ts';
import { asksToImpersonate, impersonate } from './impersonation.ts';

export const AUTHENTICATED = 'system:authenticated';

export interface IdentifyOptions {
  /** Asked in order; the first that knows the caller decides. */
  readonly authenticators: readonly Authenticator[];
  readonly authorizer: Authorizer;
}

/**
 * Rules, in order:
 *  1. an authenticator knows the caller: that user, plus `system:authenticated`
 *  2. one saw credentials of its kind and they are bad: 401, never a fall back to anonymous
 *  3. no credentials of a kind that is taken, which a password is not: `system:anonymous`
 *  4. impersonation headers are followed if that user may
 */
export function createIdentifier({ authenticators, authorizer }: IdentifyOptions) {
  return function identify(request: ApiRequest): UserInfo | Promise<UserInfo> {
    const user = authenticate(authenticators, request, 0, false);
    if (user instanceof Promise) return user.then((known) => impersonate(request, known, authorizer));
    return asksToImpersonate(request) ? impersonate(request, user, authorizer) : user;
  };
}

/** Takes a turn of the event loop only for an authenticator that needs one. */
function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  from: number,
  refusedBefore: boolean,
): UserInfo | Promise<UserInfo> {
  let refused = refusedBefore;
  for (let at = from; at < authenticators.length; at += 1) {
    const result = (authenticators[at] as Authenticator).authenticate(request);
    if (result instanceof Promise) {
      return result.then((known) => {
        if (known !== 'invalid' && known !== undefined) return withAuthenticated(known);
        return authenticate(authenticators, request, at + 1, refused || known === 'invalid');
      });
    }
    if (result === 'invalid') refused = true;
    else if (result !== undefined) return withAuthenticated(result);
  }
  if (refused || carriesToken(request)) throw unauthorized();
  return anonymous;
}

/** A bearer token that nobody knows. Other schemes are passed over, as kube-apiserver does. */
function carriesToken({ headers }: ApiRequest): boolean {
  const [scheme = '', token = ''] = (headers['authorization'] ?? '').trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '';
}

export function withAuthenticated(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED) || user.username === anonymous.username) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}
