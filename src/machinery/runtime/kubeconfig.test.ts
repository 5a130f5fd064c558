import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from './client.ts';
import { createHttpTransport } from './http-transport.ts';
import { loadKubeconfig } from './kubeconfig.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const config = (more = ''): string => `
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: team}}
- {name: lost, context: {cluster: gone, user: u}}
clusters:
- {name: c, cluster: {server: 'https://example.test:6443/', certificate-authority: ca.pem}}
users:
- {name: u, user: {token: secret}}
${more}`;

test('loadKubeconfig() reads the current context; paths in it are relative to the file', async () => {
  write('ca.pem', 'CA TEXT');
  const access = loadKubeconfig({ path: write('config', config()) });
  expect(access).toMatchObject({ server: 'https://example.test:6443', ca: 'CA TEXT', namespace: 'team' });
  expect(await access.token?.()).toBe('secret');
});

test('loadKubeconfig() takes the first file that names a thing when KUBECONFIG lists several', () => {
  write('ca.pem', 'CA');
  const first = write('first', 'current-context: one');
  const second = write('second', config());
  expect(loadKubeconfig({ env: { KUBECONFIG: `${first}:${second}` } }).namespace).toBe('team');
});

const refusals: [name: string, run: () => unknown, text: string][] = [
  ['a missing file', () => loadKubeconfig({ path: join(folder, 'none') }), 'no such file'],
  [
    'an unknown context',
    () => loadKubeconfig({ path: write('c', config()), context: 'x' }),
    'Cannot find context "x" in the kubeconfig; it has "one", "lost"',
  ],
  [
    'a context whose cluster is missing',
    () => loadKubeconfig({ path: write('c', config()), context: 'lost' }),
    'Cannot find cluster "gone"',
  ],
  [
    'a server that is no URL',
    () => loadKubeconfig({ path: write('c', config().replace('https://example.test:6443/', '://h')), env: {} }),
    'server "://h" is not a URL',
  ],
  [
    'clusters that are no list',
    () => loadKubeconfig({ path: write('c', 'clusters: {a: b}') }),
    'clusters is not a list',
  ],
  ['an empty entry', () => loadKubeconfig({ path: write('c', 'users:\n- \n') }), 'users[0] is not a map'],
  [
    'an entry with a text in its place',
    () => loadKubeconfig({ path: write('c', 'contexts:\n- name: a\n  context: b\n') }),
    'contexts[0].context is not a map',
  ],
  ['text that is no YAML', () => loadKubeconfig({ path: write('c', 'a: [') }), 'Cannot read kubeconfig'],
  [
    'no configuration at all',
    () => loadKubeconfig({ env: { HOME: folder } }),
    'set KUBECONFIG or pass --kubeconfig FILE',
  ],
];
for (const [name, run, text] of refusals) {
  test(`loadKubeconfig() refuses ${name} in one clear line`, () => expect(run).toThrow(text));
}

test('createHttpTransport() sends the token, keeps the base path and streams the answer', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.setHeader('content-type', 'application/json');
    response.end('{"kind":"Pod","metadata":{"name":"p"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({
    server: `http://127.0.0.1:${port}/proxy`,
    namespace: 'default',
    token: () => Promise.resolve('t'),
  });
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  const pod = await client.get(
    { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
    { namespace: 'a', name: 'p' },
  );
  expect(pod.metadata.name).toBe('p');
  expect(seen).toEqual(['GET /proxy/api/v1/namespaces/a/pods/p Bearer t']);
  transport.close();
  await new Promise((resolve) => server.close(resolve));
});

test('createHttpTransport() sends the body of a DELETE with its length', async () => {
  let received = '';
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({ server: `http://127.0.0.1:${port}`, namespace: 'default' });
  await transport.send({ method: 'DELETE', path: '/x', body: '{"gracePeriodSeconds":0}' });
  expect(received).toBe('{"gracePeriodSeconds":0}');
  transport.close();
  await new Promise((resolve) => server.close(resolve));
});

test('createHttpTransport() rejects when nobody listens, and when the caller gives up', async () => {
  const transport = createHttpTransport({ server: 'http://127.0.0.1:1', namespace: 'default' });
  await expect(transport.send({ method: 'GET', path: '/' })).rejects.toThrow();
  const abort = new AbortController();
  abort.abort(new Error('enough'));
  await expect(transport.send({ method: 'GET', path: '/', signal: abort.signal })).rejects.toThrow('enough');
});

const user = (body: string): string => config().replace('{token: secret}', body);
const load = (body: string) => loadKubeconfig({ path: write('c', user(body)), env: {} });

test.each([
  ['{auth-provider: {name: oidc}}', /user "u" of .*: auth-provider "oidc" is no longer part of .* exec plugin/],
  ['{as-groups: [a]}', /as-uid, as-groups and as-user-extra need "as"/],
  ['{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}', /exec has apiVersion ".*v1alpha1"/],
  ['{exec: {apiVersion: client.authentication.k8s.io/v1}}', /exec names no command/],
  [
    '{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}}',
    /interactiveMode "Always"/,
  ],
])('18.12: loadKubeconfig() refuses %s by its name', (body, want) => {
  write('ca.pem', 'CA');
  expect(() => load(body)).toThrow(want);
});

test('18.12: a credential plugin is asked once until what it gave runs out or is not taken', async () => {
  write('ca.pem', 'CA');
  const log = join(folder, 'calls');
  const credential = (seconds: number): string =>
    JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 't', expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString() },
    });
  const plugin = (seconds: number): void =>
    writeFileSync(
      join(folder, 'plugin.sh'),
      `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${log}\necho '${credential(seconds)}'\n`,
      { mode: 0o755 },
    );
  plugin(3600);
  const access = load(
    '{exec: {command: ./plugin.sh, apiVersion: client.authentication.k8s.io/v1, provideClusterInfo: true}}',
  );
  const calls = (): string[] => readFileSync(log, 'utf8').trim().split('\n');
  expect(await Promise.all([access.exec?.get(), access.exec?.get()])).toMatchObject([{ token: 't' }, { token: 't' }]);
  await access.exec?.get();
  expect(calls()).toHaveLength(1);
  expect(JSON.parse(calls()[0] ?? '')).toMatchObject({
    spec: { interactive: false, cluster: { server: 'https://example.test:6443' } },
  });
  plugin(1);
  access.exec?.forget();
  await access.exec?.get();
  await access.exec?.get();
  expect(calls()).toHaveLength(3);
});

test('18.12: a credential plugin that is not there, fails or says nonsense is named, with its hint', async () => {
  write('ca.pem', 'CA');
  const apiVersion = 'apiVersion: client.authentication.k8s.io/v1';
  const missing = load(`{exec: {command: no-such-plugin-here, ${apiVersion}, installHint: get it at example.com}}`);
  await expect(missing.exec?.get()).rejects.toThrow(
    /from "no-such-plugin-here": no such program\nget it at example.com/,
  );
  writeFileSync(join(folder, 'broken.sh'), '#!/bin/sh\necho "log in first" >&2\nexit 1\n', { mode: 0o755 });
  await expect(load(`{exec: {command: ./broken.sh, ${apiVersion}}}`).exec?.get()).rejects.toThrow(/log in first/);
  writeFileSync(join(folder, 'odd.sh'), '#!/bin/sh\necho "{}"\n', { mode: 0o755 });
  await expect(load(`{exec: {command: ./odd.sh, ${apiVersion}}}`).exec?.get()).rejects.toThrow(/instead of/);
});

test.each([
  ['https://api.example:6443', {}, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128' }, 'proxy:3128'],
  ['https://api.example:6443', { https_proxy: 'proxy:3128' }, 'proxy:3128'],
  ['https://api.example:6443', { HTTP_PROXY: 'http://proxy:3128' }, undefined],
  ['http://api.example', { HTTP_PROXY: 'http://proxy:3128' }, 'proxy:3128'],
  ['https://127.0.0.1:6443', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
  ['https://localhost:6443', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'other, api.example' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'example' }, undefined],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '.api.example' }, 'proxy:3128'],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'api.example:443' }, 'proxy:3128'],
  ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', no_proxy: '*' }, undefined],
  ['https://10.1.2.3:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/8' }, undefined],
  ['https://11.1.2.3:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/8' }, 'proxy:3128'],
  ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'fd00::/8' }, undefined],
])('18.12: %s with %o goes by proxy %s', (server, env, want) => {
  write('ca.pem', 'CA');
  const path = write('c', config().replace('https://example.test:6443/', server));
  expect(loadKubeconfig({ path, env }).proxy?.host).toBe(want);
});

test('18.12: a proxy of a kind that is not understood is refused by its name', () => {
  write('ca.pem', 'CA');
  const path = write('c', config().replace('server:', "proxy-url: 'socks5://p:1080', server:"));
  expect(() => loadKubeconfig({ path, env: {} })).toThrow(
    'Cannot use proxy-url "socks5://p:1080": proxies of kind socks5',
  );
});
