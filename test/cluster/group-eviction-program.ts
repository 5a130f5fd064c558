/** The program as it is built for the package, apart from the tree. */
import { execFile } from 'node:child_process';
import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');

export interface ProgramAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Program = (...args: string[]) => Promise<ProgramAnswer>;

/** Compiles into the folder. Never blocks: the webhook the program's requests end up at may be in this very process. */
export async function buildProgram(folder: string, env: Readonly<Record<string, string>>): Promise<Program> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(root, 'tsconfig.build.json');
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--outDir', join(folder, 'dist')]);
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const main = join(folder, 'dist', 'cli', 'main.js');
  return (...args) =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, ...env } };
      execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? 1);
        resolve({ code, stdout, stderr });
      });
    });
}
