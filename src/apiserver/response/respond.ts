/** Objects as responses: in the asked version, as a Table or metadata only, in JSON, YAML or protobuf. */
import { stringify as toYaml } from 'yaml';
import { deepClone } from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import { loadSchema } from '../../api/schema/index.ts';
import type { Call } from '../context/call.ts';
import { encodeProtobuf } from '../codec/index.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import { type Accepted, negotiate, type Transform } from '../request/negotiate.ts';
import { type ApiError, notAcceptable } from '../exchange/status.ts';
import { inVersion, isStoredForm } from '../stored/encoding.ts';
import { partialMetadata } from './partial.ts';
import { includeObjectOption, findStored, tableLayoutOf, tableOf, tableSource } from './table.ts';
import { withWarnings } from './warnings.ts';

const OBJECT_TRANSFORMS: ReadonlySet<Transform> = new Set<Transform>(['Table', 'PartialObjectMetadata']);

const JSON_TYPE = 'application/json';

/** Answers with one object. Stored bytes go out untouched where nothing has to change. */
export function respondWithEntry(call: Call, status: number, entry: StoredEntry): ApiResponse {
  const accepted = negotiateObject(call);
  if (call.request.shared === true && accepted.transform === undefined) {
    const object = inVersion(call, call.context.objects.readWithoutManagedFields(entry), deepClone);
    return { status, headers: withWarnings({}, call.warnings), body: [], document: object };
  }
  if (accepted.transform === undefined && accepted.format === 'json' && isStoredForm(call.resource, call.version)) {
    if (!isPretty(call)) {
      return { status, headers: withWarnings({ 'content-type': JSON_TYPE }, call.warnings), body: entry.value };
    }
  }
  return respondWithObject(call, status, call.context.objects.read(entry));
}

export function respondWithObject(call: Call, status: number, stored: ApiObject): ApiResponse {
  const accepted = negotiateObject(call);
  const object = inVersion(call, stored, deepClone);
  return encodeAnswer(call, status, transformed(call, accepted, { object, stored }), accepted);
}

export function negotiateObject(call: Call): Accepted {
  return negotiate(call.request.headers['accept'], { allowed: OBJECT_TRANSFORMS, protobuf: !call.resource.custom });
}

function transformed(
  call: Call,
  accepted: Accepted,
  { object, stored }: { object: ApiObject; stored: ApiObject },
): unknown {
  switch (accepted.transform) {
    case 'Table':
      return tableOf([object], {
        layout: tableLayoutOf(call.resource, call.version),
        stored: tableSource(call.resource, call.version, [stored]),
        find: findStored(call.context),
        now: call.context.clock.now(),
        include: includeObjectOption(call.options.query),
        apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
        metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
      });
    case 'PartialObjectMetadata':
      return partialMetadata(object, accepted.transformVersion);
    default:
      return object;
  }
}

/** Any JSON document as a response, in the negotiated format. */
export function encodeAnswer(call: Call, status: number, document: unknown, accepted: Accepted): ApiResponse {
  if (call.request.shared === true) {
    return { status, headers: withWarnings({}, call.warnings), body: [], document };
  }
  if (accepted.format === 'yaml') {
    const headers = withWarnings({ 'content-type': 'application/yaml' }, call.warnings);
    return { status, headers, body: Buffer.from(toYaml(document, { version: '1.1' }), 'utf8') };
  }
  if (accepted.format === 'protobuf') {
    const body = encodeProtobuf(document as Record<string, unknown>, loadSchema());
    if (body === undefined) throw notAcceptable([JSON_TYPE]);
    const headers = withWarnings({ 'content-type': 'application/vnd.kubernetes.protobuf' }, call.warnings);
    return { status, headers, body };
  }
  const text = isPretty(call) ? `${JSON.stringify(document, null, 2)}\n` : `${JSON.stringify(document)}\n`;
  return {
    status,
    headers: withWarnings({ 'content-type': JSON_TYPE }, call.warnings),
    body: Buffer.from(text, 'utf8'),
  };
}

export function jsonResponse(status: number, document: unknown, headers: Record<string, string> = {}): ApiResponse {
  return {
    status,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: Buffer.from(`${JSON.stringify(document)}\n`),
  };
}

export function errorResponse(error: ApiError, warnings: readonly string[] = []): ApiResponse {
  const retryAfter = error.status.details?.retryAfterSeconds ?? 0;
  const headers: Record<string, string> = { 'content-type': JSON_TYPE };
  if (retryAfter > 0) headers['retry-after'] = String(retryAfter);
  return {
    status: error.code,
    headers: withWarnings(headers, warnings),
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  };
}

export function isPretty(call: Call): boolean {
  if (call.options.pretty) return true;
  const agent = call.request.headers['user-agent'];
  return agent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(agent) && !call.options.query.has('pretty');
}
