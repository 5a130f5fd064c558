/** Whom the API server trusts when it asks a replica. */
import { X509Certificate } from 'node:crypto';

const DAY_MS = 86_400_000;
/** As long as a serving certificate lives: by then nobody serves with one that an older authority signed. */
const PREDECESSOR_MS = 90 * DAY_MS;
const MOST = 4;

/**
 * A bundle that vouches for what an authority signs, and for a while still for its predecessors: replicas take up a new
 * authority one after the other. A bundle that has it already stays as it is, so that replicas with different ones never
 * take the bundle from each other.
 */
export function withAuthority(bundle: string, authority: string, now: number): string {
  const own = certificatesIn(authority);
  const held = certificatesIn(bundle);
  const newestMs = Math.max(...[...own, ...held].map(({ sinceMs }) => sinceMs));
  const isKept = ({ endMs, sinceMs }: Certificate): boolean =>
    endMs > now && (sinceMs === newestMs || now - newestMs < PREDECESSOR_MS);
  const ofOthers = held.filter((one) => !own.some(({ pem }) => pem === one.pem));
  const kept = ofOthers.filter(isKept);
  const hasOwn = own.length > 0 && held.length - ofOthers.length === own.length;
  if (hasOwn && kept.length === ofOthers.length) return bundle;
  if (own.length === 0) return authority;
  return [...own, ...kept]
    .slice(0, Math.max(MOST, own.length))
    .map(({ pem }) => `${pem}\n`)
    .join('');
}

interface Certificate {
  readonly pem: string;
  readonly sinceMs: number;
  readonly endMs: number;
}

function certificatesIn(text: string): Certificate[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.flatMap((pem) => {
    try {
      const { validFrom, validTo } = new X509Certificate(pem);
      return [{ pem, sinceMs: Date.parse(validFrom), endMs: Date.parse(validTo) }];
    } catch {
      return [];
    }
  });
}
