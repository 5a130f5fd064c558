/** The package as its users get it: packed by npm, and installed by npm into a folder where nothing else is. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { installTarball, runToEnd } from './tarball.ts';

export { finish } from './tarball.ts';

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
    await installTarball(await pack(shared), home);
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
  await runToEnd(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')], root);
  const printed = await runToEnd('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', shared], stage);
  return join(shared, printed.trim().split('\n').at(-1) ?? '');
}
