import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { secretType } from '../../api/resource-types.ts';
import { createAuthority, issueServer, type KeyPair } from '../../machinery/runtime/certificates.ts';
import { settle, silentLogger } from '../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';
import { CERTIFICATE_SECRET } from '../../webhook/index.ts';
import { ensureCertificate, followCertificate, keepCertificateFresh, readCertificate } from './certificates.ts';

let plane: ControlPlane;
let folder: string;
let abort: AbortController;
let served: string | undefined;
let refuses = false;
beforeEach(async () => {
  plane = await startControlPlane();
  folder = mkdtempSync(join(tmpdir(), 'quorate-certificate-'));
  abort = new AbortController();
  served = undefined;
  refuses = false;
});
afterEach(async () => {
  abort.abort();
  rmSync(folder, { recursive: true, force: true });
  await plane.stop();
});

const upkeep = () => ({
  clock: plane.clock,
  log: silentLogger,
  signal: abort.signal,
  use({ pair }: { pair: KeyPair }) {
    if (refuses) throw new Error('key values mismatch');
    served = pair.certificate;
  },
});
const key = { namespace: 'default', name: CERTIFICATE_SECRET };
const own = () => ({ client: plane.client, clock: plane.clock, namespace: 'default', hosts: ['w'] });

/** Another replica, or a person, puts another certificate into the Secret. */
async function replaceStored(): Promise<string> {
  const secret = await plane.client.get(secretType, key);
  const text = (name: string) => Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
  const authority = { certificate: text('ca.crt'), key: text('ca.key') };
  const pair = await issueServer(authority, 'w', ['w'], { now: plane.clock.now(), days: 90 });
  const encode = (value: string) => Buffer.from(value).toString('base64');
  const data = { ...secret.data, 'tls.crt': encode(pair.certificate), 'tls.key': encode(pair.key) };
  await plane.client.update(secretType, { ...secret, data });
  return pair.certificate;
}

test('17: what another replica has stored is served within seconds', async () => {
  const notStored = keepCertificateFresh(own(), upkeep(), await ensureCertificate(own()));
  const stored = await replaceStored();
  await plane.clock.advance(60_000);
  await settle();
  expect([served === stored, notStored()]).toEqual([true, undefined]);
});

test('17: a stored certificate that cannot be served is told of until it can', async () => {
  const notStored = keepCertificateFresh(own(), upkeep(), await ensureCertificate(own()));
  refuses = true;
  const stored = await replaceStored();
  await plane.clock.advance(60_000);
  await settle();
  expect(notStored()).toBe(
    `Secret default/${CERTIFICATE_SECRET} has another one, which cannot be used: Error: key values mismatch`,
  );
  refuses = false;
  await plane.clock.advance(60_000);
  await settle();
  expect([served === stored, notStored()]).toEqual([true, undefined]);
});

test('17: files that cannot be read are told of after three minutes, and a renewed pair is served', async () => {
  const authority = await createAuthority('ca', { now: plane.clock.now(), days: 10 });
  const write = async (): Promise<string> => {
    const { certificate, key: secret } = await issueServer(authority, 'w', ['w'], { now: plane.clock.now(), days: 5 });
    writeFileSync(join(folder, 'ca.crt'), authority.certificate);
    writeFileSync(join(folder, 'tls.crt'), certificate);
    writeFileSync(join(folder, 'tls.key'), secret);
    return certificate;
  };
  await write();
  const notStored = followCertificate(folder, upkeep(), readCertificate(folder, plane.clock.now()));
  rmSync(join(folder, 'tls.key'));
  await plane.clock.advance(170_000);
  expect(notStored()).toBeUndefined();
  await plane.clock.advance(20_000);
  expect(notStored()).toMatch(/could not be read for 190 s: .*tls\.key is missing or unreadable/);
  const renewed = await write();
  await plane.clock.advance(10_000);
  expect([served === renewed, notStored()]).toEqual([true, undefined]);
});
