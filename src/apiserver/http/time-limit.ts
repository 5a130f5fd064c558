import { parseDurationMs } from '../../machinery/values/index.ts';

const REQUEST_MS = 60_000;
/** Writes of one object; less than the rest, so that their clients hear of it before they give up themselves. */
const WRITE_MS = 34_000;

/**
 * How long a request may take until it is answered with 504: what `?timeout=` asks for, but never more than the server
 * grants. Undefined when that parameter is not a duration.
 */
export function timeLimitMs(method: string, url: string): number | undefined {
  const limit = method === 'GET' || method === 'HEAD' ? REQUEST_MS : WRITE_MS;
  const query = url.indexOf('?');
  if (query === -1 || !url.includes('timeout=', query)) return limit;
  const asked = new URLSearchParams(url.slice(query + 1)).get('timeout');
  if (asked === null || asked === '') return limit;
  const ms = asked === '0' ? 0 : parseDurationMs(asked);
  if (ms === undefined || ms < 0) return undefined;
  return ms === 0 ? limit : Math.min(ms, limit);
}
