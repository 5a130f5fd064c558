/** `Impersonate-*` headers: acting as somebody else, with that somebody's rights and no others. */
import type { AuthorizationAttributes, Authorizer } from '../access/access.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import { badRequest } from '../exchange/status.ts';
import { anonymous, type UserInfo } from '../exchange/user.ts';
import { forbiddenAccess } from '../access/forbidden-access.ts';
import { serviceAccountGroups } from './tokens.ts';

const EXTRA_PREFIX = 'impersonate-extra-';
const AUTHENTICATION = 'authentication.k8s.io';

interface Wanted {
  readonly username: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export function asksToImpersonate({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

export async function impersonate(request: ApiRequest, user: UserInfo, authorizer: Authorizer): Promise<UserInfo> {
  const wanted = readHeaders(request);
  if (wanted === undefined) return user;
  for (const attributes of questions(user, wanted)) {
    const verdict = await authorizer.authorize(attributes);
    if (!verdict.allowed) throw forbiddenAccess(attributes, verdict.reason);
  }
  const groups = [...wanted.groups];
  const account = serviceAccountOf(wanted.username);
  if (groups.length === 0 && account !== undefined) groups.push(...serviceAccountGroups(account.namespace));
  const implied = wanted.username === anonymous.username ? 'system:unauthenticated' : 'system:authenticated';
  if (!groups.includes('system:authenticated') && !groups.includes('system:unauthenticated')) groups.push(implied);
  return {
    username: wanted.username,
    ...(wanted.uid && { uid: wanted.uid }),
    groups,
    ...(Object.keys(wanted.extra).length > 0 && { extra: wanted.extra }),
  };
}

/** Everything that must be allowed for the change of identity. */
function* questions(user: UserInfo, wanted: Wanted): Generator<AuthorizationAttributes> {
  const ask = (resource: NonNullable<AuthorizationAttributes['resource']>): AuthorizationAttributes => ({
    user,
    verb: 'impersonate',
    resource,
  });
  const account = serviceAccountOf(wanted.username);
  yield account === undefined
    ? ask({ group: '', version: 'v1', plural: 'users', name: wanted.username })
    : ask({ group: '', version: 'v1', plural: 'serviceaccounts', namespace: account.namespace, name: account.name });
  for (const name of wanted.groups) yield ask({ group: '', version: 'v1', plural: 'groups', name });
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const name of values) {
      yield ask({ group: AUTHENTICATION, version: 'v1', plural: 'userextras', subresource: key, name });
    }
  }
  if (wanted.uid) yield ask({ group: AUTHENTICATION, version: 'v1', plural: 'uids', name: wanted.uid });
}

function readHeaders({ headers }: ApiRequest): Wanted | undefined {
  const username = headers['impersonate-user'];
  const uid = headers['impersonate-uid'];
  const groups = splitHeader(headers['impersonate-group']);
  const extra: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(EXTRA_PREFIX)) extra[decode(name.slice(EXTRA_PREFIX.length))] = splitHeader(value);
  }
  if (username) return { username, uid, groups, extra };
  if (uid || groups.length > 0 || Object.keys(extra).length > 0) {
    throw badRequest('requested impersonation of groups, a UID or extra values without a user name');
  }
  return undefined;
}

/** Repeated headers arrive joined with commas. */
function splitHeader(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function serviceAccountOf(username: string): { namespace: string; name: string } | undefined {
  const found = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username);
  return found === null ? undefined : { namespace: found[1] as string, name: found[2] as string };
}
