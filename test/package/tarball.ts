/** A packed package, installed by npm into a folder where nothing else is, without a network. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Without a network npm cannot ask which versions there are, so it is told with a lock file made from ours, and finds
 * what the package depends on where it would have put it.
 */
export async function installTarball(tarball: string, home: string): Promise<void> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>;
  };
  const { '': self, ...rest } = lock.packages;
  const needed = Object.entries(rest).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  const bins = join(home, 'node_modules', '.bin');
  mkdirSync(bins, { recursive: true });
  for (const [path, { bin = {} }] of needed) {
    // Builds for other machines are optional and not there.
    if (!existsSync(join(root, path))) continue;
    cpSync(join(root, path), join(home, path), { recursive: true, dereference: true });
    for (const [name, target] of Object.entries(bin)) {
      symlinkSync(relative(bins, join(home, path, target)), join(bins, name));
    }
  }
  const dependencies = { quorate: `file:../${basename(tarball)}` };
  const entry = {
    version: self?.version,
    resolved: dependencies.quorate,
    dependencies: self?.dependencies,
    bin: self?.bin,
  };
  const manifest = { name: 'empty', private: true, dependencies };
  const packages = { '': manifest, ...Object.fromEntries(needed), 'node_modules/quorate': entry };
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(home, 'package-lock.json'), JSON.stringify({ name: 'empty', lockfileVersion: 3, packages }));
  await runToEnd('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], home);
}

export async function runToEnd(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, output } = await finish(spawn(program, [...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] }));
  if (code !== 0)
    throw new Error(`${basename(program)} ${args.join(' ')} in ${dirname(cwd)} ended with ${code}\n${output}`);
  return output;
}

/** What a program printed, and how it ended. */
export function finish(child: ChildProcess): Promise<{ code: number | null; output: string; errors: string }> {
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}
