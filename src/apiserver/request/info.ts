/** What a path and method ask for. */
export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly kind: 'resource';
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** Segments after the subresource. */
  readonly rest: readonly string[];
  /** Undefined when the method has no meaning here. */
  readonly verb: RequestVerb | undefined;
}

export interface PlainRequest {
  readonly kind: 'plain';
  readonly path: string;
}

export type RequestInfo = ResourceRequest | PlainRequest;

const METHODS_ON_OBJECT: Readonly<Record<string, RequestVerb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const METHODS_ON_COLLECTION: Readonly<Record<string, RequestVerb>> = {
  GET: 'list',
  HEAD: 'list',
  POST: 'create',
  DELETE: 'deletecollection',
};

/** Subresources of the Namespace itself; any other third segment after a namespace is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

export function parseRequest(method: string, path: string, search: string): RequestInfo {
  const plain: PlainRequest = { kind: 'plain', path };
  const segments = path.split('/');
  // A leading slash gives an empty first segment; a trailing one an empty last.
  segments.shift();
  if (segments.at(-1) === '') segments.pop();

  let at: number;
  let group: string;
  if (segments[0] === 'api' && segments.length >= 3) {
    group = '';
    at = 1;
  } else if (segments[0] === 'apis' && segments.length >= 4) {
    group = segments[1] as string;
    at = 2;
  } else {
    return plain;
  }
  const version = segments[at] as string;
  let rest = segments.slice(at + 1).map(decode);
  let watchPrefix = false;
  if (rest[0] === 'watch' && rest.length > 1) {
    watchPrefix = true;
    rest = rest.slice(1);
  }

  let namespace: string | undefined;
  if (
    rest[0] === 'namespaces' &&
    rest.length >= 3 &&
    !(rest.length === 3 && NAMESPACE_SUBRESOURCES.has(rest[2] as string))
  ) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural, name, subresource, ...more] = rest as [string, ...string[]];
  return {
    kind: 'resource',
    group,
    version,
    plural,
    namespace: plural === 'namespaces' && namespace === undefined ? undefined : namespace,
    name,
    subresource,
    rest: more,
    verb: verbOf(method, name, search, watchPrefix),
  };
}

function verbOf(
  method: string,
  name: string | undefined,
  search: string,
  watchPrefix: boolean,
): RequestVerb | undefined {
  if (watchPrefix) return method === 'GET' ? 'watch' : undefined;
  if (name !== undefined) return METHODS_ON_OBJECT[method];
  const verb = METHODS_ON_COLLECTION[method];
  return verb === 'list' && asksToWatch(search) ? 'watch' : verb;
}

function asksToWatch(search: string): boolean {
  if (!search.includes('watch')) return false;
  const value = new URLSearchParams(search).get('watch');
  return value !== null && value !== 'false' && value !== '0' && value !== 'f';
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
