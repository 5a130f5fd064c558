/** What keeps a dashboard to the browser it was opened in: headers of every answer, and which requests are heard. */
import { isIP } from 'node:net';
import { UI_HEADER } from '../../api/ui/stream.ts';
import type { ApiRequest } from '../../apiserver/index.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** The host a request says it is for, without its port, in lower case. */
function hostOf({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const said = headers[':authority'] ?? headers['host'];
  if (said === undefined) return undefined;
  const found = /^(\[[0-9a-f:.]+\]|[^:]+)(:\d+)?$/i.exec(said);
  return found?.[1]?.replace(/^\[|\]$/g, '').toLowerCase();
}

/**
 * Whether a request is for a host that is ours. A page whose name is made to point here (DNS rebinding) has a name of
 * its own; addresses and `localhost` cannot be made to point elsewhere.
 */
export function isOwnHost(request: Pick<ApiRequest, 'headers'>, names: readonly string[] = []): boolean {
  const host = hostOf(request);
  if (host === undefined) return false;
  return isIP(host) !== 0 || host === 'localhost' || names.includes(host);
}

/**
 * Whether our own page makes this request. Browsers say where a request comes from, and let no other page send our
 * header without asking first, which is never granted. Another port of this host is another page.
 */
export function isOwnPage({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const origin = headers['origin'];
  if (origin !== undefined) {
    const said = headers[':authority'] ?? headers['host'];
    if (!URL.canParse(origin) || new URL(origin).host !== said?.toLowerCase()) return false;
  }
  return headers[UI_HEADER] !== undefined;
}

export function readCookie({ headers }: Pick<ApiRequest, 'headers'>, name: string): string | undefined {
  for (const part of (headers['cookie'] ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}
