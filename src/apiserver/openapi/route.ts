import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import type { PlainRoute } from '../routes/plain-routes.ts';
import { parseAccept } from '../request/negotiate.ts';
import { noSuchResource, notAcceptable } from '../exchange/status.ts';
import type { EncodedDocument, OpenApi } from './open-api.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const PROTOBUF_NAMES = new Set([PROTOBUF, 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf']);
const JSON_NAMES = new Set(['application/json', 'application/*', '*/*']);
const YEAR_SECONDS = 31_536_000;

/** `/openapi/v2` and `/openapi/v3`. */
export function openApiRoute(openapi: OpenApi): PlainRoute {
  return {
    handle(request, path) {
      if (path === '/openapi/v2' || path === '/openapi/v2/') return version2(openapi, request);
      if (path === '/openapi/v3' || path === '/openapi/v3/') return answer(request, openapi.index(), {});
      if (path.startsWith('/openapi/v3/')) return groupVersion(openapi, request, path.slice('/openapi/v3/'.length));
      return undefined;
    },
  };
}

async function version2(openapi: OpenApi, request: ApiRequest): Promise<ApiResponse> {
  const { accept } = request.headers;
  if (accept === undefined || accept === '') return answer(request, await openapi.swagger(), {});
  for (const { type } of parseAccept(accept)) {
    if (PROTOBUF_NAMES.has(type)) return answer(request, await openapi.swaggerProtobuf(), { 'content-type': PROTOBUF });
    if (JSON_NAMES.has(type)) return answer(request, await openapi.swagger(), {});
  }
  throw notAcceptable(['application/json', PROTOBUF]);
}

/** With the right hash the answer never changes; with a wrong one the client is sent to the right one. */
function groupVersion(openapi: OpenApi, request: ApiRequest, path: string): ApiResponse {
  const document = openapi.groupVersion(path.endsWith('/') ? path.slice(0, -1) : path);
  if (document === undefined) throw noSuchResource();
  const { accept } = request.headers;
  if (accept !== undefined && accept !== '' && !parseAccept(accept).some(({ type }) => JSON_NAMES.has(type))) {
    throw notAcceptable(['application/json']);
  }
  const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('hash');
  if (asked === null || asked === '') return answer(request, document, {});
  if (asked !== document.hash) {
    const location = `/openapi/v3/${path}?hash=${document.hash}`;
    return { status: 301, headers: { location, 'content-type': 'text/html; charset=utf-8' }, body: Buffer.alloc(0) };
  }
  return answer(request, document, { 'cache-control': `public, immutable, max-age=${YEAR_SECONDS}` });
}

function answer(request: ApiRequest, { body, hash }: EncodedDocument, extra: Record<string, string>): ApiResponse {
  const etag = `"${hash}"`;
  const headers = { 'content-type': 'application/json', etag, vary: 'Accept', ...extra };
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim());
  if (known.includes(etag) || known.includes(`W/${etag}`)) return { status: 304, headers, body: Buffer.alloc(0) };
  return { status: 200, headers, body };
}
