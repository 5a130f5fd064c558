import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { ManualClock } from '../../machinery/runtime/index.ts';
import { issueServer, type KeyPair } from '../../machinery/runtime/certificates.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { openPki } from './pki.ts';

const DAY_MS = 86_400_000;
const fail = (error: unknown): never => expect.unreachable(String(error));
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});
function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'quorate-pki-'));
  directories.push(directory);
  return join(directory, 'pki');
}

/** Connects with the given client certificate and says what the server saw. */
async function handshake(server: KeyPair, ca: string, client: KeyPair): Promise<{ authorized: boolean; cn: string }> {
  let seen: (value: { authorized: boolean; cn: string }) => void = () => {};
  const saw = new Promise<{ authorized: boolean; cn: string }>((resolve) => {
    seen = resolve;
  });
  const listener = createServer(
    { cert: server.certificate, key: server.key, ca, requestCert: true, rejectUnauthorized: false },
    (socket: TLSSocket) => {
      const peer = socket.getPeerCertificate();
      seen({ authorized: socket.authorized, cn: String(peer.subject?.CN ?? '') });
      socket.end();
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const socket = connect({ port, host: '127.0.0.1', ca, cert: client.certificate, key: client.key });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return await saw;
  } finally {
    socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  }
}

test('openPki() issues a server certificate that clients verify and a client certificate the server verifies', async () => {
  const clock = new ManualClock(Date.now());
  const pki = await openPki({ clock, hosts: ['192.0.2.7', '0.0.0.0'], serviceAddress: '10.96.0.1' });
  const leaf = new X509Certificate(pki.server.certificate);
  for (const address of ['127.0.0.1', '::1', '10.96.0.1', '192.0.2.7']) expect(leaf.checkIP(address)).toBe(address);
  for (const name of ['localhost', 'kubernetes.default.svc']) expect(leaf.checkHost(name)).toBe(name);
  expect(leaf.checkIP('0.0.0.0')).toBeUndefined();
  expect(new X509Certificate(pki.admin.certificate).subject.split('\n').sort()).toEqual([
    'CN=kubernetes-admin',
    'O=system:masters',
  ]);
  expect(await handshake(pki.server, pki.authority.certificate, pki.admin)).toEqual({
    authorized: true,
    cn: 'kubernetes-admin',
  });
});

test('openPki() makes a server refuse client certificates of another authority', async () => {
  const clock = new ManualClock(Date.now());
  const [ours, theirs] = [await openPki({ clock }), await openPki({ clock })];
  const { authorized } = await handshake(ours.server, ours.authority.certificate, theirs.admin);
  expect(authorized).toBe(false);
});

test('openPki() keeps its secrets across starts, readable by their owner only', async () => {
  const clock = new ManualClock(Date.now());
  const directory = temporary();
  const first = await openPki({ directory, clock });
  const second = await openPki({ directory, clock });
  expect(second.authority).toEqual(first.authority);
  expect(second.server).toEqual(first.server);
  expect(second.admin).toEqual(first.admin);
  expect(second.adminToken).toBe(first.adminToken);
  expect(second.serviceAccountKey).toBe(first.serviceAccountKey);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  const names = readdirSync(directory);
  expect(names).toHaveLength(12);
  for (const name of names) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
});

test('openPki() replaces a serving certificate that is old or lacks a host, and keeps the authority', async () => {
  const clock = new ManualClock(Date.now());
  const directory = temporary();
  const first = await openPki({ directory, clock });
  const moved = await openPki({ directory, clock, hosts: ['192.0.2.9'] });
  expect(moved.server.certificate).not.toBe(first.server.certificate);
  expect(moved.authority).toEqual(first.authority);
  await clock.advance(300 * DAY_MS);
  const aged = await openPki({ directory, clock, hosts: ['192.0.2.9'] });
  expect(aged.server.certificate).not.toBe(moved.server.certificate);
});

test('17: keepServerFresh() hands over a new certificate before the old one ends, also after a sleep', async () => {
  const clock = new ManualClock(Date.now());
  const pki = await openPki({ clock });
  const old = pki.server;
  const used: KeyPair[] = [];
  const keeper = pki.keepServerFresh((pair) => used.push(pair), fail);
  clock.set(clock.now() + 200 * DAY_MS);
  await clock.advance(60_000);
  expect(pki.server).toBe(old);
  clock.set(clock.now() + 200 * DAY_MS);
  expect(pki.problem()).toMatch(/^it ends at /);
  await keeper.look();
  expect(pki.problem()).toBeUndefined();
  expect(used).toEqual([pki.server]);
  const { validTo } = new X509Certificate(pki.server.certificate);
  expect(Date.parse(validTo)).toBeGreaterThan(clock.now() + 300 * DAY_MS);
  keeper.stop();
});

test('17: keepServerFresh() issues a certificate that is valid on a clock that was set back', async () => {
  const clock = new ManualClock(Date.now());
  const pki = await openPki({ clock });
  const keeper = pki.keepServerFresh(() => {}, fail);
  clock.set(clock.now() - DAY_MS);
  expect(pki.problem()).toMatch(/^it is not valid before /);
  await keeper.look();
  expect(pki.problem()).toBeUndefined();
  keeper.stop();
});

test('17: the certificate that is served is the stored one, or readiness says why not', async () => {
  const clock = new ManualClock(Date.now());
  const directory = temporary();
  const pki = await openPki({ directory, clock });
  let served = pki.server;
  const failed: unknown[] = [];
  const keeper = pki.keepServerFresh(
    (pair) => (served = pair),
    (error) => failed.push(error),
  );
  const { certificate, key } = await issueServer(pki.authority, 'kube-apiserver', pki.hosts, {
    now: clock.now(),
    days: 30,
  });
  writeFileSync(join(directory, 'server.key'), key);
  writeFileSync(join(directory, 'server.crt'), certificate);
  expect(pki.problem()).toMatch(/^it is not the one that is stored in pki\/server\.crt/);
  await keeper.look();
  expect([pki.problem(), served.certificate, failed]).toEqual([undefined, certificate, []]);
  // Of another authority: nobody would believe it.
  const other = await openPki({ clock });
  writeFileSync(join(directory, 'server.crt'), other.server.certificate);
  await keeper.look();
  expect(pki.problem()).toMatch(/cannot be used/);
  expect(served.certificate).toBe(certificate);
  keeper.stop();
});

test('writeKubeconfig() writes for the owner only, over an older file', () => {
  const path = join(temporary(), 'config');
  const options = { server: 'https://127.0.0.1:6443', authority: 'CA', user: { name: 'admin', token: 't' } };
  writeKubeconfig(path, options);
  writeKubeconfig(path, { ...options, namespace: 'team' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain('server: https://127.0.0.1:6443');
  expect(text).toContain(`certificate-authority-data: ${Buffer.from('CA').toString('base64')}`);
  expect(text).toContain('namespace: team');
});
