/** What a kubeconfig says counts for Quorate as it does for kubectl: the same requests, as the same user, by the same way. */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { podType } from '../../src/api/resource-types.ts';
import { createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { startHost } from './host.ts';
import { createKubectl } from './kubectl.ts';

interface Config {
  users: { name: string; user: Record<string, unknown> }[];
  clusters: { name: string; cluster: Record<string, unknown> }[];
}

let host: EmbeddedHost;
let proxy: Server;
let proxyPort: number;
let proxied: string[] = [];

beforeAll(async () => {
  host = await startHost({ nodes: 0 });
  proxy = createServer((near) => {
    near.on('error', () => {});
    near.once('data', (head: Buffer) => {
      const [, target = '', port = ''] = /^CONNECT (.*):(\d+) HTTP/.exec(head.toString('latin1')) ?? [];
      proxied.push(target);
      const far = connect(Number(port), target, () => {
        near.write('HTTP/1.1 200 Connection established\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      far.on('error', () => near.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxyPort = (proxy.address() as { port: number }).port;
});
afterAll(async () => {
  proxy?.close();
  await host?.stop();
});

let written = 0;
function kubeconfig({ cluster = {}, user = {} }: { user?: object; cluster?: object }): string {
  const config = parse(readFileSync(host.kubeconfig, 'utf8')) as Config;
  for (const one of config.users) one.user = { ...one.user, ...user };
  for (const one of config.clusters) one.cluster = { ...one.cluster, ...cluster };
  const path = join(dirname(host.kubeconfig), `config-${(written += 1)}`);
  writeFileSync(path, stringify(config));
  return path;
}

const token = (): string => {
  const { users } = parse(readFileSync(host.kubeconfig, 'utf8')) as Config;
  return String(users[0]?.user['token']);
};

type Told = Record<string, unknown> | string;

/** Who the API server takes each for, and whether it may list pods. */
async function asked(path: string): Promise<{ kubectl: Told; quorate: Told; pods: [boolean, boolean] }> {
  const kubectl = createKubectl(path);
  let transport: ReturnType<typeof createHttpTransport> | undefined;
  try {
    const whoami = await kubectl.run(['auth', 'whoami', '-o', 'json']).catch((error: Error) => error.message);
    const theirs =
      typeof whoami === 'string' ? 'refused' : (JSON.parse(whoami.stdout) as { status: { userInfo: object } }).status;
    const listed = await kubectl.run(['get', 'pods', '-A']).then(
      () => true,
      () => false,
    );
    let ours: Told = 'refused';
    let mayList = false;
    try {
      transport = createHttpTransport(loadKubeconfig({ path, env: {} }));
      const client = createClient({ transport: transport.send, userAgent: 'test' });
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const answer = await client.request<{ status: { userInfo: object } }>(
        'POST',
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        review,
      );
      ours = answer.status as unknown as Told;
      mayList = await client.list(podType).then(
        () => true,
        () => false,
      );
    } catch {
      // Refused, as kubectl is.
    }
    return { kubectl: theirs as Told, quorate: ours, pods: [listed, mayList] };
  } finally {
    transport?.close();
    kubectl.close();
  }
}

test('18.12: with `as` both are that user, and may do no more than it', async () => {
  const { kubectl, pods, quorate } = await asked(kubeconfig({ user: { as: 'bob' } }));
  expect(quorate).toEqual(kubectl);
  expect(quorate).toMatchObject({ userInfo: { username: 'bob' } });
  expect(pods).toEqual([false, false]);
});

test('18.12: as-uid, as-groups and as-user-extra are sent as kubectl sends them', async () => {
  const user = {
    as: 'bob',
    'as-uid': 'u-1',
    'as-groups': ['system:masters', 'team:a'],
    'as-user-extra': { 'example.com/Scopes': ['one', 'two'] },
  };
  const { kubectl, pods, quorate } = await asked(kubeconfig({ user }));
  expect(quorate).toEqual(kubectl);
  expect(quorate).toMatchObject({ userInfo: { username: 'bob', uid: 'u-1' } });
  expect(pods).toEqual([true, true]);
});

test('18.12: a token from a program or from a file beside the kubeconfig is used', async () => {
  const folder = dirname(host.kubeconfig);
  writeFileSync(join(folder, 'token'), `${token()}\n`);
  const status = JSON.stringify({ token: token() });
  const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}`;
  writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho '${credential}'\n`, { mode: 0o755 });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never' };
  for (const user of [
    { token: undefined, tokenFile: 'token' },
    { token: undefined, exec },
  ]) {
    const { kubectl, pods, quorate } = await asked(kubeconfig({ user }));
    expect(quorate).toEqual(kubectl);
    expect(pods).toEqual([true, true]);
  }
});

test('18.12: proxy-url is the way for both', async () => {
  proxied = [];
  const { kubectl, pods, quorate } = await asked(
    kubeconfig({ cluster: { 'proxy-url': `http://127.0.0.1:${proxyPort}` } }),
  );
  expect(quorate).toEqual(kubectl);
  expect(pods).toEqual([true, true]);
  // Two runs of kubectl and one client of ours, at the least.
  expect(proxied.length).toBeGreaterThanOrEqual(3);
});

test.each([
  ['a proxy that nobody runs', { cluster: { 'proxy-url': 'http://127.0.0.1:1' } }],
  ['a name that the certificate does not have', { cluster: { 'tls-server-name': 'elsewhere.example' } }],
  ['groups without a user to be', { user: { 'as-groups': ['system:masters'] } }],
  ['an authority beside insecure-skip-tls-verify', { cluster: { 'insecure-skip-tls-verify': true } }],
  ['an auth-provider', { user: { 'auth-provider': { name: 'gcp' } } }],
])('18.12: %s is refused by both', async (_what, given) => {
  expect(await asked(kubeconfig(given))).toEqual({ kubectl: 'refused', quorate: 'refused', pods: [false, false] });
});
