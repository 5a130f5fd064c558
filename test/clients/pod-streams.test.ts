import { spawn } from 'node:child_process';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { adminOf, startHost } from './host.ts';
import { createKubectl, findKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost({ nodes: 1 });
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['run', 'p', '--image=nginx', '--env=A=b']);
  await kubectl.run(['wait', '--for=condition=Ready', 'pod/p', '--timeout=120s']);
}, 180_000);
afterAll(async () => {
  kubectl.close();
  await host.stop();
});

it('runs commands of an echo, with their output and exit codes', async () => {
  expect((await kubectl.run(['exec', 'p', '--', 'echo', 'hello', 'world'])).stdout).toBe('hello world\n');
  expect((await kubectl.run(['exec', 'p', '--', 'env'])).stdout).toContain('A=b\n');
  const ended = await kubectl.run(['exec', 'p', '--', 'sh', '-c', 'exit 3'], { fails: true });
  expect([ended.code, ended.stderr]).toEqual([3, 'command terminated with exit code 3\n']);
  const unknown = await kubectl.run(['exec', 'p', '--', 'ls', '/'], { fails: true });
  expect([unknown.code, unknown.stderr]).toEqual([127, expect.stringContaining('ls: not found')]);
});

it('gives back what it is sent, also more than is sent at once', async () => {
  const sent = `${'0123456789'.repeat(300_000)}\n`;
  const { stdout } = await kubectl.run(['exec', '-i', 'p', '--', 'cat'], { stdin: sent });
  expect(stdout === sent).toBe(true);
  const attached = await kubectl.run(['attach', '-i', 'p'], { stdin: 'over here\n' });
  expect(attached.stdout).toContain('what is sent here comes back\nover here\n');
});

it.each([
  ['in a WebSocket', {}],
  ['over SPDY', { KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
])('forwards ports to an echo, %s', async (_how, env: Record<string, string>) => {
  const { forwarding, port } = await forward(env);
  const answer = await fetch(`http://127.0.0.1:${port}/hello`, { headers: { a: 'b' } });
  expect(await answer.text()).toMatch(/^GET \/hello HTTP\/1\.1\r\n(?:.*\r\n)*a: b\r\n/);
  const size = 2_000_000;
  const received = await new Promise<number>((resolve) => {
    let got = 0;
    const socket = connectPlain(port, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => {
      got += chunk.length;
      if (got >= size) socket.end();
    });
    socket.on('close', () => resolve(got));
    socket.write(Buffer.alloc(size, 97));
  });
  expect(received).toBe(size);
  const ended = new Promise((resolve) => forwarding.once('close', resolve));
  forwarding.kill();
  await ended;
});

/** `kubectl port-forward` to a port of its choice, and that port. */
async function forward(env: Readonly<Record<string, string>>) {
  const forwarding = spawn(findKubectl(), ['port-forward', 'p', ':80', '--address=127.0.0.1'], {
    env: { ...process.env, ...env, KUBECONFIG: host.kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve) => {
    let text = '';
    forwarding.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  return { forwarding, port };
}

it('answers a Status where there is nothing to run in, or no right to', async () => {
  const refused = async (...args: string[]) => (await kubectl.run(args, { fails: true })).stderr;
  expect(await refused('exec', 'missing', '--', 'ls')).toContain('pods "missing" not found');
  await kubectl.run(['create', 'role', 'looks', '--verb=get', '--resource=pods,pods/exec']);
  await kubectl.run(['create', 'rolebinding', 'looks', '--role=looks', '--user=jane']);
  const mayNot = await refused('exec', 'p', '--as=jane', '--', 'ls');
  expect(mayNot).toContain('User "jane" cannot create resource "pods/exec"');
  await kubectl.run(['create', 'role', 'runs', '--verb=create', '--resource=pods/exec']);
  await kubectl.run(['create', 'rolebinding', 'runs', '--role=runs', '--user=jane']);
  expect((await kubectl.run(['exec', 'p', '--as=jane', '--', 'hostname'])).stdout).toBe('p\n');
});

it.each([
  [
    'GET',
    '/api/v1/namespaces/default/pods/p/exec?command=ls&stdout=true',
    'SPDY/3.1',
    400,
    'SPDY/3.1 is not spoken here',
  ],
  ['GET', '/api/v1/namespaces/default/pods/p/exec?stdout=true', 'websocket', 400, 'at least 1 command'],
  ['GET', '/api/v1/namespaces/default/pods/p/exec?command=ls', 'websocket', 400, 'at least 1 of stdin'],
  ['GET', '/version', 'websocket', 200, '"major"'],
])('answers %s %s with Upgrade: %s as HTTP: %d', async (method, path, upgrade, status, text) => {
  const { ca, cert, key, port } = adminOf(host);
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key });
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  expect(answer).toContain(text);
});
