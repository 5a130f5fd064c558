/** What a party that verifies service-account tokens on its own needs to read. */
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ServiceAccountTokens } from './tokens.ts';

const CONFIGURATION = '/.well-known/openid-configuration';
const KEYS = '/openid/v1/jwks';

export function openidPaths(tokens: ServiceAccountTokens): (path: string) => ApiResponse | undefined {
  const documents: Readonly<Record<string, () => { type: string; body: object }>> = {
    [CONFIGURATION]: () => ({ type: 'application/json', body: tokens.discovery(`${tokens.issuer}${KEYS}`) }),
    [KEYS]: () => ({ type: 'application/jwk-set+json', body: tokens.keySet() }),
  };
  return (path) => {
    const document = documents[path.endsWith('/') ? path.slice(0, -1) : path]?.();
    if (document === undefined) return undefined;
    return {
      status: 200,
      headers: { 'content-type': document.type, 'cache-control': 'public, max-age=3600' },
      body: Buffer.from(JSON.stringify(document.body)),
    };
  };
}
