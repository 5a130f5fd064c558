/** The package as its users get it: packed by npm, and installed by npm into a folder where nothing else is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { inject } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const PATIENCE_MS = 240_000;

export interface InstalledPackage {
  /** The folder it was installed in. */
  readonly home: string;
  /** The package inside it. */
  readonly folder: string;
  /** The program as npm linked it. */
  readonly program: string;
}

/** Packs and installs once for the whole run; whoever comes later waits for the first. */
export async function installPackage(): Promise<InstalledPackage> {
  const shared = inject('packageFolder');
  const home = join(shared, 'home');
  const installed = {
    home,
    folder: join(home, 'node_modules', 'quorate'),
    program: join(home, 'node_modules', '.bin', 'quorate'),
  };
  const [done, failed] = [join(shared, 'done'), join(shared, 'failed')];
  if (!claim(join(shared, 'claim'))) {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!existsSync(done)) {
      if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'));
      if (Date.now() > giveUpAt) throw new Error('Cannot install the package: whoever began it has not finished');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return installed;
  }
  try {
    await install(await pack(shared), home);
    writeFileSync(done, '');
    return installed;
  } catch (error) {
    writeFileSync(failed, String(error));
    throw error;
  }
}

function claim(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Builds and packs apart from the tree, so that a build somebody works with stays as it is. */
async function pack(shared: string): Promise<string> {
  const stage = join(shared, 'stage');
  mkdirSync(stage);
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const tops = new Set(['package.json', ...files.map((path) => path.split('/')[0] ?? '')]);
  tops.delete('dist');
  for (const name of tops) cpSync(join(root, name), join(stage, name), { recursive: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')], root);
  const printed = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', shared], stage);
  return join(shared, printed.trim().split('\n').at(-1) ?? '');
}

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
async function install(tarball: string, home: string): Promise<void> {
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
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], home);
}

async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
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
