/** Asks the authorizer about a request. It is asked before the route is looked for: who may not, learns nothing. */
import { checkPathSegment, parseFieldSelector } from '../../machinery/values/index.ts';
import type { AuthorizationAttributes, AuthorizationVerdict, Authorizer } from './access.ts';
import { forbiddenAccess } from './forbidden-access.ts';
import type { ResourceRequest } from '../request/info.ts';
import type { UserInfo } from '../exchange/user.ts';

export async function authorizePath(
  authorizer: Authorizer,
  user: UserInfo,
  method: string,
  path: string,
): Promise<void> {
  await demand(authorizer, { user, verb: method.toLowerCase(), path });
}

export function authorizeResource(
  authorizer: Authorizer,
  user: UserInfo,
  info: ResourceRequest,
  { method, search }: { method: string; search: string },
): Promise<void> | undefined {
  const verb = info.verb ?? (method !== 'HEAD' ? method.toLowerCase() : info.name === undefined ? 'list' : 'get');
  return demand(authorizer, { user, verb, resource: resourceOf(info, selectedName(info, search)) });
}

/** A write that makes a new object needs the right to create it, besides the right to update or patch. */
export function authorizeCreate(
  authorizer: Authorizer,
  user: UserInfo,
  info: ResourceRequest,
): Promise<void> | undefined {
  return demand(authorizer, { user, verb: 'create', resource: resourceOf(info, info.name) });
}

/** Waits only for an authorizer that needs it. */
function demand(authorizer: Authorizer, attributes: AuthorizationAttributes): Promise<void> | undefined {
  const settle = ({ allowed, reason }: AuthorizationVerdict): void => {
    if (!allowed) throw forbiddenAccess(attributes, reason);
  };
  const judged = authorizer.authorize(attributes);
  return judged instanceof Promise ? judged.then(settle) : (settle(judged) as undefined);
}

function resourceOf(
  { group, version, plural, subresource, namespace, name: own }: ResourceRequest,
  name: string | undefined,
): NonNullable<AuthorizationAttributes['resource']> {
  // A namespace is inside itself, as role bindings expect.
  const within = plural === 'namespaces' && namespace === undefined ? own : namespace;
  return {
    group,
    version,
    plural,
    ...(subresource !== undefined && { subresource }),
    ...(within !== undefined && { namespace: within }),
    ...(name !== undefined && { name }),
  };
}

/** A list or watch of one object by its name is allowed to who may read that object. */
function selectedName({ name, verb }: ResourceRequest, search: string): string | undefined {
  if (name !== undefined || (verb !== 'list' && verb !== 'watch') || !search.includes('fieldSelector')) return name;
  try {
    const requirements = parseFieldSelector(new URLSearchParams(search).get('fieldSelector') ?? '');
    const exact = requirements.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value;
    return exact !== undefined && exact !== '' && checkPathSegment(exact).length === 0 ? exact : undefined;
  } catch {
    return undefined;
  }
}
