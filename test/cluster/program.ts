/** The command under test, and a run of it to its end. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Arguments of Node; with `QUORATE_BUILT` what `npm run build` made, which starts in a fraction of the time. */
export const PROGRAM: readonly string[] = process.env['QUORATE_BUILT']
  ? [join(ROOT, 'dist', 'cli', 'main.js')]
  : ['--import', 'tsx', join(ROOT, 'src', 'cli', 'main.ts')];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runProgram(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [...PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}
