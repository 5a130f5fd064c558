import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KubectlResult } from '../../clients/kubectl.ts';
import type { StoryHost } from './host.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const built = join(root, 'dist', 'cli', 'main.js');

/** The built command where it is as new as its source; the source itself takes seconds to start. */
const command = isBuilt() ? [built] : ['--import', 'tsx', join(root, 'src', 'cli', 'main.ts')];

function isBuilt(): boolean {
  if (!existsSync(built)) return false;
  const { mtimeMs } = statSync(built);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  return sources.every((path) => !path.endsWith('.ts') || statSync(join(root, 'src', path)).mtimeMs <= mtimeMs);
}

/** Runs the `quorate` command against a host, as an administrator does, to its end. */
export function quorate({ kubeconfig }: StoryHost, ...args: string[]): Promise<KubectlResult> {
  const child = spawn(process.execPath, [...command, ...args], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}
