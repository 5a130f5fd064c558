/** What form the client wants the answer in. */
import { notAcceptable, unsupportedMediaType } from '../exchange/status.ts';

export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Accepted {
  readonly format: 'json' | 'yaml' | 'protobuf';
  readonly transform: Transform | undefined;
  readonly transformVersion: 'v1' | 'v1beta1';
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const JSON_ANSWER: Accepted = { format: 'json', transform: undefined, transformVersion: 'v1' };
const OFFERED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const cache = new Map<string, readonly Clause[]>();

/** Clauses of an Accept header, best first. Clients send few distinct headers, so parses are remembered. */
export function parseAccept(header: string): readonly Clause[] {
  const known = cache.get(header);
  if (known !== undefined) return known;
  const clauses = header
    .split(',')
    .map((text) => {
      const [type, ...parts] = text.split(';').map((part) => part.trim());
      const parameters = new Map<string, string>();
      for (const part of parts) {
        const equals = part.indexOf('=');
        if (equals > 0) parameters.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
      }
      return { type: (type ?? '').toLowerCase(), parameters, quality: Number(parameters.get('q') ?? 1) };
    })
    .filter(({ type }) => type !== '')
    .sort((a, b) => b.quality - a.quality);
  if (cache.size < 256) cache.set(header, clauses);
  return clauses;
}

export interface Negotiation {
  /** Transformations this answer can take. */
  readonly allowed: ReadonlySet<Transform>;
  /** Whether protobuf output is possible for this kind. It is the last resort: JSON is what is stored. */
  readonly protobuf?: boolean;
}

export function negotiate(accept: string | undefined, { allowed, protobuf = false }: Negotiation): Accepted {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return JSON_ANSWER;
  let lastResort: Accepted | undefined;
  for (const { type, parameters } of parseAccept(accept)) {
    const format = formatOf(type, protobuf);
    if (format === undefined) continue;
    const as = parameters.get('as');
    if (as === undefined) {
      if (parameters.has('g') || parameters.get('stream') !== undefined) continue;
      const answer: Accepted = { format, transform: undefined, transformVersion: 'v1' };
      if (format !== 'protobuf') return answer;
      lastResort ??= answer;
      continue;
    }
    const version = parameters.get('v');
    if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue;
    if (!allowed.has(as as Transform)) continue;
    return { format: format === 'protobuf' ? 'json' : format, transform: as as Transform, transformVersion: version };
  }
  if (lastResort !== undefined) return lastResort;
  throw notAcceptable(OFFERED);
}

const EVERY_TRANSFORM: ReadonlySet<Transform> = new Set<Transform>([
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
]);

/** 406 before anything is done, when no answer at all could be given in a form that the client takes. */
export function checkAcceptable(accept: string | undefined, protobuf: boolean): void {
  negotiate(accept, { allowed: EVERY_TRANSFORM, protobuf });
}

/** 406 unless the client takes the one form that there is, whatever it asks of it besides. */
export function checkTakes(accept: string | undefined, type: string): void {
  if (accept === undefined || accept === '') return;
  if (!parseAccept(accept).some((clause) => clause.type === '*/*' || clause.type === type)) throw notAcceptable([type]);
}

function formatOf(type: string, protobuf: boolean): Accepted['format'] | undefined {
  switch (type) {
    case 'application/json':
    case '*/*':
    case 'application/*':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    case 'application/vnd.kubernetes.protobuf':
      return protobuf ? 'protobuf' : undefined;
    default:
      return undefined;
  }
}

const BODY_TYPES = new Set(['', 'application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);

/** The media type of a request body, lower case, without parameters. */
export function bodyType(contentType: string | undefined): string {
  if (contentType === 'application/json') return contentType;
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!BODY_TYPES.has(type)) throw unsupportedMediaType(type, OFFERED);
  return type;
}
