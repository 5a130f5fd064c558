import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
