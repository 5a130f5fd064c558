import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createAuthority, issueServer, type KeyPair } from '../../../machinery/runtime/certificates.ts';
import { createClient, Metrics, systemClock } from '../../../machinery/runtime/index.ts';
import { consultPicker, createAddressPolicy, createHttpProtocol } from './index.ts';

const DAY_MS = 86_400_000;
let authority: KeyPair;
beforeAll(async () => {
  authority = await createAuthority('pickers', { now: systemClock.now(), days: 2 });
});

const issue = (host: string, issuedDaysAgo = 0): Promise<KeyPair> =>
  issueServer(authority, 'picker', [host], { now: systemClock.now() - issuedDaysAgo * DAY_MS, days: 1 });

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A picker over HTTPS that counts the requests that got through to it. */
async function listen({ certificate, key }: KeyPair): Promise<{ port: number; answered: () => number }> {
  let answered = 0;
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    answered += 1;
    response.end('{"chosen_pods":["a"]}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, answered: () => answered };
}

function ask(port: number, { host = 'picker.example', trust = true } = {}) {
  const transport = () => Promise.reject(new Error('no API here'));
  const protocol = createHttpProtocol({
    client: createClient({ transport, userAgent: 'test' }),
    addresses: createAddressPolicy({ allow: ['127.0.0.1'] }),
    resolve: () => Promise.resolve(['127.0.0.1']),
    ...(trust ? { extraCertificates: authority.certificate } : {}),
  });
  return consultPicker(
    {
      namespace: 'default',
      picker: { timeoutSeconds: 20, maxRetries: 1, http: { host, port, scheme: 'HTTPS' } },
      question: { count: 1, candidates: ['a', 'b'] },
    },
    { protocols: [protocol], clock: systemClock, metrics: new Metrics(), shutdown: new AbortController().signal },
  );
}

test('K20 a picker over HTTPS is trusted by the configured authority and its name', async () => {
  const { port, answered } = await listen(await issue('picker.example'));
  expect(await ask(port)).toMatchObject({ ok: true, answer: { chosen: ['a'] } });
  expect(answered()).toBe(1);
});

test('K20 an address instead of a name must be in the certificate', async () => {
  const { port } = await listen(await issue('127.0.0.1'));
  expect(await ask(port, { host: '127.0.0.1' })).toMatchObject({ ok: true });
  expect(await ask(port)).toMatchObject({ ok: false, reason: 'ConnectionFailed' });
});

test('K20 a wrong name is refused, tried again and refused', async () => {
  const { answered, port } = await listen(await issue('other.example'));
  expect(await ask(port)).toMatchObject({ ok: false, reason: 'ConnectionFailed', attempts: 2 });
  expect(answered()).toBe(0);
});

test('K20 an unknown authority is refused', async () => {
  const { answered, port } = await listen(await issue('picker.example'));
  expect(await ask(port, { trust: false })).toMatchObject({ ok: false, reason: 'ConnectionFailed', attempts: 2 });
  expect(answered()).toBe(0);
});

test('K20 an expired certificate is refused', async () => {
  const { answered, port } = await listen(await issue('picker.example', 2));
  expect(await ask(port)).toMatchObject({ ok: false, reason: 'ConnectionFailed', attempts: 2 });
  expect(answered()).toBe(0);
});
