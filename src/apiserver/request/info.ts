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

/** A URL in its parts, and what it asks for. */
export interface RequestTarget {
  readonly path: string;
  /** The query, without its mark. */
  readonly search: string;
  readonly info: RequestInfo;
}

let lastPost: { readonly url: string; readonly target: RequestTarget } | undefined;

/** Creates come by the thousand to one URL, as the names are in their bodies: the last one is not read again. */
export function targetOf(method: string, url: string): RequestTarget {
  const isPost = method === 'POST';
  if (isPost && lastPost?.url === url) return lastPost.target;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const search = mark < 0 ? '' : url.slice(mark + 1);
  const target = { path, search, info: parseRequest(method, path, search) };
  if (isPost) lastPost = { url, target };
  return target;
}

/** Every other request comes through here: it goes over the segments by number, without lists in between. */
export function parseRequest(method: string, path: string, search: string): RequestInfo {
  // A leading slash gives an empty first segment; a trailing one an empty last.
  const segments = path.split('/');
  if (segments.at(-1) === '') segments.pop();
  const isCore = segments[1] === 'api' && segments.length >= 4;
  if (!isCore && !(segments[1] === 'apis' && segments.length >= 5)) return { kind: 'plain', path };
  const group = isCore ? '' : (segments[2] as string);
  let at = isCore ? 2 : 3;
  const version = segments[at] as string;
  at += 1;
  if (path.includes('%'))
    for (let next = at; next < segments.length; next += 1) segments[next] = decode(segments[next]);
  const watchPrefix = segments[at] === 'watch' && segments.length - at > 1;
  if (watchPrefix) at += 1;

  let namespace: string | undefined;
  const left = segments.length - at;
  if (
    segments[at] === 'namespaces' &&
    left >= 3 &&
    !(left === 3 && NAMESPACE_SUBRESOURCES.has(segments[at + 2] as string))
  ) {
    namespace = segments[at + 1];
    at += 2;
  }
  const plural = segments[at] as string;
  const name = segments[at + 1];
  return {
    kind: 'resource',
    group,
    version,
    plural,
    namespace: plural === 'namespaces' && namespace === undefined ? undefined : namespace,
    name,
    subresource: segments[at + 2],
    rest: segments.length > at + 3 ? segments.slice(at + 3) : NOTHING,
    verb: verbOf(method, name, search, watchPrefix),
  };
}

const NOTHING: readonly string[] = [];

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

function decode(segment = ''): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
