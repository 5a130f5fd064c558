/** `quorate lint` as a process: against a cluster, and with input it cannot use. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = join(import.meta.dirname, '..', '..');
let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost({ nodes: 2 });
  kubectl = createKubectl(host.kubeconfig);
}, 300_000);
afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

async function lint(args: readonly string[], { stdin = '', kubeconfig = host.kubeconfig } = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'src', 'cli', 'main.ts'), 'lint', ...args], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

test('a cluster is read, pods through their ReplicaSets, and what is found makes the exit code 1', {
  timeout: 120_000,
}, async () => {
  await kubectl.run(['create', 'deployment', 'web', '--image=example.com/web', '--replicas=2']);
  await kubectl.run(['create', 'pdb', 'web', '--selector=app=web', '--min-available=2']);
  await kubectl.run(['create', 'pdb', 'lost', '--selector=app=lost', '--max-unavailable=1']);
  await kubectl.run(['wait', '--for=condition=Available', 'deployment/web', '--timeout=120s']);
  const { code, stdout } = await lint(['-o', 'json', '--namespace', 'default']);
  const { findings } = JSON.parse(stdout) as { findings: { rule: string; object: { name: string } }[] };
  expect(findings.map(({ object, rule }) => `${object.name} ${rule}`)).toEqual([
    'lost selects-nothing',
    'web never-allows-drain',
    'web unhealthy-pods-block',
  ]);
  expect(code).toBe(1);
});

test('what cannot be used is one line, the next command where there is one, and exit code 2', {
  timeout: 120_000,
}, async () => {
  const gone = { stdin: 'apiVersion: v1\nkind: [Pod\n' };
  const [yaml, unreachable] = await Promise.all([lint(['-'], gone), lint(['--context', 'nowhere'])]);
  expect([yaml.code, yaml.stdout]).toEqual([2, '']);
  expect(yaml.stderr).toMatch(/^quorate lint: <stdin>:3:1: [^\n]+\n$/);
  expect([unreachable.code, unreachable.stdout]).toEqual([2, '']);
  expect(unreachable.stderr).toMatch(
    /^quorate lint: [^\n]*nowhere[^\n]*\nTo see [^\n]*: kubectl config get-contexts\n$/,
  );
});
