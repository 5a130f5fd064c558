/** `up -d`, `status`, `logs` and `down`, as one types them, each in a process of its own. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKubectl } from '../clients/kubectl.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'quorate-background-'));
});
afterEach(async () => {
  await quorate('down');
  rmSync(home, { recursive: true, force: true });
});

const data = () => join(home, '.local', 'share', 'quorate');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const quorate = (...args: string[]): Promise<Ended> => start(...args).ended;

/** `speaks` resolves with the first thing it says. */
function start(...args: string[]): { readonly speaks: Promise<unknown>; readonly ended: Promise<Ended> } {
  const { KUBECONFIG: _, XDG_DATA_HOME: __, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    env: { ...env, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  return {
    speaks: new Promise((resolve) => child.stdout.once('data', resolve)),
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err }))),
  };
}

test('up -d leaves it running; status, logs and kubectl find it; down stops it and what is stored stays', async () => {
  const up = await quorate('up', '-d', '--port', '0', '--nodes', '2', '--kubeconfig-merge');
  expect(up.err).toBe('');
  expect(up.out).toContain('It runs in the background. quorate status, quorate logs, quorate down.');
  expect(up.code).toBe(0);
  const status = await quorate('status', '-o', 'json');
  expect(status.code).toBe(0);
  const told = JSON.parse(status.out) as { url: string; ready: boolean; context: string; pid: number };
  expect(told).toMatchObject({ ready: true, context: 'quorate' });
  expect(up.out).toContain(told.url);

  const kubectl = createKubectl(join(home, '.kube', 'config'));
  await expect
    .poll(() => kubectl.out('get', 'nodes', '-o', 'name'), { timeout: 30_000 })
    .toBe('node/node-0\nnode/node-1');
  await kubectl.out('create', 'configmap', 'kept');
  const second = await quorate('up', '-d', '--port', '0');
  expect(second.err).toContain(`already up at ${told.url} (process ${told.pid}); quorate down stops it`);
  expect(second.code).toBe(1);
  expect((await quorate('logs', '--tail', '1')).out).toBe(`Quorate is up at ${told.url}.\n`);

  const following = start('logs', '-f');
  await following.speaks;
  const down = await quorate('down');
  expect(down.out).toBe(`Stopped ${told.url}. The next quorate up continues here.\n`);
  expect((await following.ended).out).toContain('Stopped. The next quorate up continues here.');
  expect(readFileSync(join(home, '.kube', 'config'), 'utf8')).not.toContain(told.url);
  expect((await quorate('status')).code).toBe(3);

  await quorate('up', '-d', '--port', '0', '--nodes', '0', '--kubeconfig-merge');
  expect(await kubectl.out('get', 'configmap', 'kept', '-o', 'name')).toBe('configmap/kept');
  kubectl.close();
}, 300_000);

test('up -d that cannot start says why and leaves nothing running', async () => {
  const up = await quorate('up', '-d', '--port', '0', '--bind', '192.0.2.1');
  expect(up.err).toMatch(/^quorate up: .*192\.0\.2\.1/m);
  expect(up.code).toBe(1);
  expect(existsSync(join(data(), 'run', 'up.json'))).toBe(false);
  expect((await quorate('status')).out).toContain('quorate up -d');
}, 300_000);

test('the note of a process that died, or whose number another has now, stops nobody', async () => {
  await quorate('up', '-d', '--port', '0', '--nodes', '0');
  const path = join(data(), 'run', 'up.json');
  const note = JSON.parse(readFileSync(path, 'utf8')) as { pid: number };
  await quorate('down');
  // This process lives, and began at another time than the note says.
  writeFileSync(path, JSON.stringify({ ...note, pid: process.pid }));
  expect((await quorate('status')).code).toBe(3);
  expect((await quorate('down')).out).toContain('No control plane is running on');
}, 300_000);
