import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../machinery/runtime/index.ts';
import { allowAll } from '../access/access.ts';
import { type Fixture, fixture } from './auth.fixture.ts';
import { clientCertificates, serviceAccountTokens, staticTokens } from './authenticators.ts';
import { createIdentifier } from './identify.ts';
import { ServiceAccountTokens, type TokenSubject } from './tokens.ts';

const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const subject: TokenSubject = { namespace: 'team', serviceAccount: { name: 'bot', uid: 'sa-1' } };
let world: Fixture;
let clock: ManualClock;
let tokens: ServiceAccountTokens;

beforeEach(async () => {
  world = fixture();
  clock = new ManualClock();
  tokens = new ServiceAccountTokens({
    reads: world,
    privateKey: newKey(),
    issuer: ISSUER,
    clock,
    newUid: () => randomUUID(),
  });
  await world.put('', 'serviceaccounts', { metadata: { namespace: 'team', name: 'bot', uid: 'sa-1' } });
});

test('check() accepts a fresh token and names the service account, its groups and its pod', async () => {
  await world.put('', 'pods', { metadata: { namespace: 'team', name: 'web', uid: 'pod-1' } });
  const verdict = tokens.check(tokens.issue({ ...subject, pod: { name: 'web', uid: 'pod-1' } }, [ISSUER], 600));
  expect(verdict).toMatchObject({
    valid: true,
    audiences: [ISSUER],
    user: {
      username: 'system:serviceaccount:team:bot',
      uid: 'sa-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:team'],
      extra: { 'authentication.kubernetes.io/pod-name': ['web'] },
    },
  });
});

test('check() refuses an expired token, also when its signature was checked before', async () => {
  const token = tokens.issue(subject, [ISSUER], 600);
  expect(tokens.check(token)?.valid).toBe(true);
  await clock.advance(600_000);
  expect(tokens.check(token)).toMatchObject({ valid: false, reason: 'service account token has expired' });
});

test('17: check() takes a token that was issued before the clock was set back, and ends it by the clock', () => {
  const token = tokens.issue(subject, [ISSUER], 600);
  const issuedMs = clock.now();
  clock.set(issuedMs - 3_600_000);
  expect(tokens.check(token)?.valid).toBe(true);
  clock.set(issuedMs + 3_600_000);
  expect(tokens.check(token)?.valid).toBe(false);
});

test('check() refuses a token for another audience', () => {
  expect(tokens.check(tokens.issue(subject, ['vault'], 600))?.valid).toBe(false);
  expect(tokens.check(tokens.issue(subject, ['vault', 'other'], 600), ['vault'])).toMatchObject({
    valid: true,
    audiences: ['vault'],
  });
});

test('check() refuses a token whose service account was made anew or whose pod is gone', async () => {
  await world.put('', 'pods', { metadata: { namespace: 'team', name: 'web', uid: 'pod-1' } });
  const bound = tokens.issue({ ...subject, pod: { name: 'web', uid: 'pod-1' } }, [ISSUER], 600);
  const free = tokens.issue(subject, [ISSUER], 600);
  await world.remove('', 'pods', 'team', 'web');
  expect(tokens.check(bound)?.valid).toBe(false);
  expect(tokens.check(free)?.valid).toBe(true);
  await world.put('', 'serviceaccounts', { metadata: { namespace: 'team', name: 'bot', uid: 'sa-2' } });
  expect(tokens.check(free)?.valid).toBe(false);
});

test('check() does not know tokens that were changed, unsigned or signed by another key', () => {
  const token = tokens.issue(subject, [ISSUER], 600);
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:admin' })).toString('base64url');
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  const other = new ServiceAccountTokens({
    reads: world,
    privateKey: newKey(),
    issuer: ISSUER,
    clock,
    newUid: () => randomUUID(),
  });
  for (const bad of [
    `${header}.${forged}.${signature}`,
    `${unsigned}.${payload}.`,
    `${header}.${payload}.`,
    other.issue(subject, [ISSUER], 600),
    'a.b.c',
    'nonsense',
  ]) {
    expect(tokens.check(bad)).toBeUndefined();
  }
});

async function identify(
  headers: Record<string, string>,
  certificate?: { commonName: string; organizations: string[] },
) {
  const admin = { token: 'secret', user: { username: 'admin', groups: ['system:masters'] } };
  const authenticators = [clientCertificates, staticTokens([admin]), serviceAccountTokens(tokens)];
  return createIdentifier({ authenticators, authorizer: allowAll })({
    method: 'GET',
    url: '/',
    headers,
    body: undefined,
    signal: new AbortController().signal,
    peer: certificate === undefined ? {} : { certificate },
  });
}

test('identify() is anonymous without credentials and 401 with bad ones', async () => {
  const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
  expect(await identify({})).toEqual(anonymous);
  await expect(identify({ authorization: 'Bearer wrong' })).rejects.toMatchObject({ code: 401 });
  // As with kube-apiserver: a password, or a token that is none, is no credential at all.
  for (const authorization of ['Basic YTpi', 'Bearer ', 'Bearer']) {
    expect(await identify({ authorization })).toEqual(anonymous);
  }
});

test('identify() knows certificates, the admin token and service-account tokens', async () => {
  expect(await identify({}, { commonName: 'jane', organizations: ['dev'] })).toEqual({
    username: 'jane',
    groups: ['dev', 'system:authenticated'],
  });
  expect((await identify({ authorization: 'Bearer secret' })).groups).toEqual([
    'system:masters',
    'system:authenticated',
  ]);
  const token = tokens.issue(subject, [ISSUER], 600);
  expect((await identify({ authorization: `bearer ${token}` })).username).toBe('system:serviceaccount:team:bot');
});

test('identify() follows impersonation headers and leaves the rights of the caller behind', async () => {
  expect(
    await identify({
      authorization: 'Bearer secret',
      'impersonate-user': 'jane',
      'impersonate-group': 'dev, ops',
      'impersonate-extra-scopes': 'view',
    }),
  ).toEqual({ username: 'jane', groups: ['dev', 'ops', 'system:authenticated'], extra: { scopes: ['view'] } });
  expect(
    (await identify({ authorization: 'Bearer secret', 'impersonate-user': 'system:serviceaccount:a:b' })).groups,
  ).toEqual(['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated']);
  await expect(identify({ 'impersonate-group': 'dev' })).rejects.toMatchObject({ code: 400 });
});
