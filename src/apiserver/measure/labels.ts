/** The words by which Kubernetes counts requests. */
import type { ResourceRequest } from '../request/info.ts';

export const VERBS = ['GET', 'LIST', 'WATCH', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'CONNECT', 'other'] as const;
export const SCOPES = ['resource', 'namespace', 'cluster'] as const;

type Verb = (typeof VERBS)[number];
const at = (verb: Verb): number => VERBS.indexOf(verb);
const BY_VERB: Readonly<Record<NonNullable<ResourceRequest['verb']>, number>> = {
  get: at('GET'),
  list: at('LIST'),
  watch: at('WATCH'),
  create: at('POST'),
  update: at('PUT'),
  patch: at('PATCH'),
  delete: at('DELETE'),
  // The word is for what was done to the path.
  deletecollection: at('DELETE'),
};
const APPLY = at('APPLY');
const CONNECT = at('CONNECT');
const OTHER = at('other');
const CONNECTS = new Set(['log', 'exec', 'portforward', 'attach', 'proxy']);

/** Number of the verb in `VERBS`. */
export function reportedVerb(
  { subresource, verb }: ResourceRequest,
  { isApply }: { readonly isApply: boolean },
): number {
  if (verb === undefined) return OTHER;
  if (subresource !== undefined && CONNECTS.has(subresource)) return CONNECT;
  return verb === 'patch' && isApply ? APPLY : BY_VERB[verb];
}

const OF_ONE = /(?:^|&)fieldSelector=(?:[^&]*(?:,|%2C))?metadata\.name(?:=|%3D)/i;

/** Number of the scope in `SCOPES`: one object, also where a list or watch selects it by its name; a namespace; all. */
export function scopeOf({ name, namespace, verb }: ResourceRequest, search: string): number {
  if (name !== undefined || verb === 'create') return 0;
  if (search.includes('fieldSelector') && OF_ONE.test(search)) return 0;
  return namespace === undefined ? 2 : 1;
}

const PLAIN: readonly (readonly [path: string, name: string])[] = [
  ['/healthz', '/healthz'],
  ['/livez', '/livez'],
  ['/readyz', '/readyz'],
  ['/metrics', '/metrics'],
  ['/version', '/version'],
  ['/openapi/v2', 'openapi/v2'],
  ['/openapi/v3', 'openapi/v3'],
  ['/apis', 'apis'],
  ['/api', 'api'],
];

/** What is no resource, by a name of few; undefined where nobody counts. */
export function plainName(path: string): string | undefined {
  for (const [prefix, name] of PLAIN) if (path === prefix || path.startsWith(`${prefix}/`)) return name;
  return undefined;
}
