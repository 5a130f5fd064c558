/** What a path and method ask for. */
import { badRequest } from '../exchange/status.ts';

export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly kind: 'resource';
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Of a resource in it; undefined for the namespace itself. */
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
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const METHODS_ON_COLLECTION: Readonly<Record<string, RequestVerb>> = {
  GET: 'list',
  POST: 'create',
  DELETE: 'deletecollection',
};

/** Subresources of the Namespace itself; any other third segment after a namespace is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** A URL in its parts, and what it asks for. */
export interface RequestTarget {
  /** Without escapes: what is authorized is what is served. */
  readonly path: string;
  /** The query, without its mark. */
  readonly search: string;
  readonly info: RequestInfo;
}

export function targetOf(method: string, url: string): RequestTarget {
  const mark = url.indexOf('?');
  const path = decodePath(mark < 0 ? url : url.slice(0, mark));
  const search = mark < 0 ? '' : url.slice(mark + 1);
  return { path, search, info: parseRequest(method, path, search) };
}

/** `path` is decoded: an escaped slash separates like any other. Goes over the segments by number, without lists in between. */
export function parseRequest(method: string, path: string, search: string): RequestInfo {
  // A leading slash gives an empty first segment; each trailing one an empty last.
  const segments = path.split('/');
  while (segments.at(-1) === '') segments.pop();
  const isCore = segments[1] === 'api' && segments.length >= 4;
  if (!isCore && !(segments[1] === 'apis' && segments.length >= 5)) return { kind: 'plain', path };
  const group = isCore ? '' : (segments[2] as string);
  let at = isCore ? 2 : 3;
  const version = segments[at] as string;
  at += 1;
  const watchPrefix = segments[at] === 'watch' && segments.length - at > 1;
  if (watchPrefix) at += 1;

  let namespace: string | undefined;
  if (
    segments[at] === 'namespaces' &&
    segments.length - at >= 3 &&
    !NAMESPACE_SUBRESOURCES.has(segments[at + 2] as string)
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
    namespace,
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

/** Bytes that are not UTF-8 become U+FFFD, which is in no name that the server stores. */
export function decodePath(raw: string): string {
  if (!raw.includes('%')) return raw;
  const broken = /%(?![0-9a-f]{2}).{0,2}/i.exec(raw);
  if (broken !== null) throw badRequest(`invalid URL escape ${JSON.stringify(broken[0])} in the path`);
  const bytes = Buffer.from(raw, 'utf8').toString('latin1');
  const decoded = bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, 'latin1').toString('utf8');
}
