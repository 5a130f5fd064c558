/** Makes requests: every verb, path, option and header, with bodies derived from sound objects. */
import { objectBody, patchBody } from './bodies.ts';
import type { Dice } from './dice.ts';
import { MUTATION_NAMES, MUTATIONS } from './mutate.ts';
import type { Resource } from './resources.ts';
import { ONLY_DRY_RUN, SEEDS, SUBRESOURCE_SEEDS } from './seeds.ts';

export type Identity = 'nobody' | 'namespace-admin' | 'admin' | 'anonymous' | 'forged';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly identity: Identity;
  /** What the report groups by. */
  readonly kind: string;
  readonly mutation: string;
}

export interface Lane {
  readonly resources: readonly Resource[];
  /** A namespace that nobody else writes to. */
  readonly namespace: string;
}

const IDENTITIES: readonly (readonly [number, Identity])[] = [
  [55, 'admin'],
  [25, 'namespace-admin'],
  [15, 'nobody'],
  [3, 'anonymous'],
  [2, 'forged'],
];
const PLAIN_PATHS = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/nothing',
  '/version',
  '/healthz',
  '/livez/ping',
  '/readyz?verbose',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/.well-known/openid-configuration',
  '/nothing',
  '/API/v1',
  '//api/v1/pods',
  '/api/v1/../v1/pods',
  '/apis//v1/x',
];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v9;g=meta.k8s.io,application/json',
  'application/json;as=Nothing;v=v1;g=meta.k8s.io',
  'text/html',
  '*/*',
  '',
  'application/json;q=x',
  ';;;',
];
const READ_OPTIONS: readonly (readonly [string, readonly string[]])[] = [
  ['limit', ['1', '0', '-1', 'x', '99999999999999999999']],
  ['labelSelector', ['app=fuzz', 'a in (b', '!a', 'a b', 'ñ=1', ',', 'a=b,c!=d', 'x notin (y,z)']],
  ['fieldSelector', ['metadata.name=a', 'metadata.namespace=x', 'spec.nothing=1', 'a', 'metadata.name!=a']],
  ['resourceVersion', ['0', '1', '-1', 'x', '']],
  ['resourceVersionMatch', ['Exact', 'NotOlderThan', 'x']],
  ['continue', ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0', '%00']],
  ['timeoutSeconds', ['1', '0', '-1', 'x']],
  ['pretty', ['true', 'x']],
  ['sendInitialEvents', ['true', 'x']],
  ['allowWatchBookmarks', ['true', 'x']],
];
const WRITE_OPTIONS: readonly (readonly [string, readonly string[]])[] = [
  ['dryRun', ['All', 'x', '']],
  ['fieldValidation', ['Strict', 'Ignore', 'Warn', 'x']],
  ['fieldManager', ['me', '', 'ñ', 'm'.repeat(200), 'a\u0000']],
  ['force', ['true', 'false', 'x']],
  ['gracePeriodSeconds', ['0', '-1', 'x', '30']],
  ['propagationPolicy', ['Background', 'Foreground', 'Orphan', 'x']],
  ['orphanDependents', ['true', 'x']],
  ['pretty', ['1']],
];
/** Sound header values in both protocols; heads that are not are sent by `broken-heads.ts`. */
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['impersonate-user', 'someone'],
  ['impersonate-group', 'system:masters'],
  ['impersonate-extra-%', 'x'],
  ['impersonate-uid', '1'],
  ['user-agent', ''],
  ['user-agent', `${'x'.repeat(300)}/1`],
  ['user-agent', 'caf\u00e9/1'],
  ['x-odd', '\u00ff\u00fe'],
  ['audit-id', 'a b\u00e9'],
  ['if-none-match', '*'],
  ['content-encoding', 'gzip'],
  ['accept-encoding', 'gzip'],
  ['expect', 'something'],
  ['authorization', 'Bearer '],
  ['authorization', 'Basic eDp5'],
  ['authorization', 'Bearer a.b.c'],
];
export const NAMES = ['a', 'b', 'c'];
const ODD_NAMES = ['A', '..', '.', '%', 'a%2Fb', '%C3%B1', 'a'.repeat(260), '-', '%00', 'a b', '%zz', ' '];

export function makeRequest(dice: Dice, lane: Lane): FuzzRequest {
  const identity = dice.weighed(IDENTITIES);
  const plain = dice.chance(0.03);
  const made = plain ? plainRequest(dice) : resourceRequest(dice, lane);
  const headers: Record<string, string> = { ...made.headers };
  if (dice.chance(0.3)) headers['accept'] = dice.pick(ACCEPTS);
  if (dice.chance(0.05)) {
    const [name, value] = dice.pick(ODD_HEADERS);
    headers[name] = value;
  }
  return { ...made, headers, identity };
}

type Made = Omit<FuzzRequest, 'identity'>;

function plainRequest(dice: Dice): Made {
  const method = dice.pick(['GET', 'GET', 'GET', 'POST', 'HEAD', 'DELETE', 'OPTIONS']);
  return { method, path: dice.pick(PLAIN_PATHS), headers: {}, body: undefined, kind: 'plain', mutation: 'none' };
}

const METHODS: readonly (readonly [number, string])[] = [
  [30, 'POST'],
  [18, 'PUT'],
  [25, 'PATCH'],
  [17, 'GET'],
  [8, 'DELETE'],
  [1, 'HEAD'],
  [1, 'OPTIONS'],
];

function resourceRequest(dice: Dice, { namespace, resources }: Lane): Made {
  const resource = dice.pick(resources);
  const { apiVersion, group, kind, namespaced, plural, subresources } = resource;
  const label = `${group}/${plural}`;
  const method = dice.weighed(METHODS);
  const subresource = subresources.length > 0 && dice.chance(0.2) ? dice.pick(subresources) : undefined;
  const onObject = method !== 'POST' || subresource !== undefined ? dice.chance(0.93) : dice.chance(0.03);
  const name = dice.chance(0.03) ? dice.pick(ODD_NAMES) : `${dice.pick(NAMES)}${namespaced ? '' : `-${namespace}`}`;
  const scopeTurned = dice.chance(0.02);
  const home = namespaced !== scopeTurned ? `namespaces/${namespace}/` : '';
  const root = `/${group === '' ? 'api' : 'apis'}/${apiVersion}`;
  const watch = method === 'GET' && dice.chance(0.005) ? 'watch/' : '';
  const tail = onObject ? `/${name}${subresource === undefined ? '' : `/${subresource}`}` : '';
  const guarded = ONLY_DRY_RUN.has(label) || (!namespaced && !onObject && method === 'DELETE');
  const path = `${root}/${watch}${home}${plural}${tail}${query(dice, method, guarded, watch !== '')}`;
  const shown = subresource === undefined || !onObject ? label : `${label}/${subresource}`;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') {
    return { method, path, headers: {}, body: undefined, kind: shown, mutation: scopeTurned ? 'other scope' : 'none' };
  }
  const given = SUBRESOURCE_SEEDS[subresource ?? ''] ?? { apiVersion, kind, ...SEEDS[label] };
  const metadata = { ...(given as { metadata?: object }).metadata, name: decodeName(name) };
  const seed = method === 'DELETE' ? deleteOptions(dice) : structuredClone({ ...given, metadata });
  const mutation = dice.chance(0.4) ? 'none' : dice.pick(MUTATION_NAMES);
  const mutated = MUTATIONS[mutation]?.(dice, seed as never);
  const body = method === 'PATCH' ? patchBody(dice, mutated) : objectBody(dice, mutated);
  // Options in a body win over those in the query, and a mutation could lose the dry run.
  const without = method === 'DELETE' && (guarded || dice.chance(0.5));
  return {
    method,
    path,
    headers: without ? {} : { 'content-type': body.type },
    body: without ? undefined : body.bytes,
    kind: shown,
    mutation: [scopeTurned ? 'other scope' : '', mutation, body.done].filter((word) => word !== '').join(', '),
  };
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function deleteOptions(dice: Dice): object {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
  return dice.chance(0.5) ? { ...options, preconditions: { uid: 'x' } } : options;
}

function query(dice: Dice, method: string, guarded: boolean, watches: boolean): string {
  const writes = method !== 'GET' && method !== 'HEAD';
  const pairs: string[] = writes && guarded ? ['dryRun=All'] : [];
  const options = writes ? WRITE_OPTIONS : READ_OPTIONS;
  if (dice.chance(0.25)) {
    for (let left = 1 + dice.number(2); left > 0; left -= 1) {
      const [option, values] = dice.pick(options);
      if (guarded && option === 'dryRun') continue;
      pairs.push(`${option}=${encodeURIComponent(dice.pick(values))}`);
    }
  }
  if (method === 'PATCH' && dice.chance(0.8)) pairs.push('fieldManager=fuzz');
  // Seconds of a stream are seconds of the run: few, and short.
  if (watches) return '?timeoutSeconds=1';
  if (method === 'GET' && dice.chance(0.005)) return '?watch=1&timeoutSeconds=1';
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
