/**
 * Behind `npm run test:release`: runs the steps of deploy/Dockerfile in a plain folder, then scripts/release.sh for this
 * platform, and starts what came out of both.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findHelm } from '../clients/kubectl.ts';
import { readDockerfile, type Stage } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const work = mkdtempSync(join(tmpdir(), 'quorate-release-'));
const run = (
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string =>
  execFileSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

function expect(what: string, text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`${what}: ${pattern} is not in\n${text}`);
  process.stdout.write(`ok ${what}\n`);
}

/** A folder for each stage; COPY is from the tree or from another's, RUN is run with the folder as /app. */
function build(stage: Stage, folders: Map<string, string>): string {
  const folder = join(work, stage.name ?? 'final');
  mkdirSync(folder);
  if (stage.name !== undefined) folders.set(stage.name, folder);
  for (const { instruction, text } of stage.steps) {
    if (instruction === 'RUN')
      run('bash', ['-ec', text], folder, { TARGETARCH: process.arch === 'x64' ? 'amd64' : process.arch });
    if (instruction !== 'COPY') continue;
    const [, from, rest = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
    const words = rest.split(' ');
    const to = join(folder, words.pop() ?? '');
    const base = from === undefined ? ROOT : (folders.get(from) ?? '');
    for (const word of words) {
      const source = join(base, from === undefined ? word : word.replace(/^\/app\//, ''));
      if (!existsSync(source)) throw new Error(`COPY ${text}: ${word} is not there`);
      const isFolder = statSync(source).isDirectory();
      cpSync(source, isFolder ? to : join(to, basename(source)), { recursive: true, verbatimSymlinks: true });
    }
  }
  return folder;
}

try {
  const folders = new Map<string, string>();
  let image = '';
  for (const stage of readDockerfile(readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8')))
    image = build(stage, folders);
  const flags = ['--min-semi-space-size=32', '--no-parallel-scavenge'];
  expect(
    'the image runs',
    run('node', [...flags, join(image, 'dist/cli/main.js'), 'operator', '--help'], image),
    /--webhook-port/,
  );
  if (existsSync(join(image, 'node_modules', 'typescript')))
    throw new Error('the image holds what only building needs');

  const out = join(work, 'out');
  run('bash', ['scripts/release.sh', out], ROOT, {
    HELM: findHelm(),
    PLATFORMS: `${process.platform}/${process.arch}`,
  });
  const files = readdirSync(out).sort().join('\n');
  expect(
    'a release has its parts',
    files,
    /^kubectl-quorate-\S+tar\.gz\nquorate-\d\S+\.tgz\nquorate-chart-\S+\.tgz\nquorate\.yaml$/,
  );
  expect(
    'the krew manifest',
    readFileSync(join(out, 'quorate.yaml'), 'utf8'),
    /sha256: [0-9a-f]{64}\n +bin: kubectl-quorate/,
  );
  const plugin = join(work, 'plugin');
  mkdirSync(plugin);
  run(
    'tar',
    ['xzf', join(out, readdirSync(out).find((name) => name.startsWith('kubectl-')) ?? ''), '-C', plugin],
    work,
  );
  expect(
    'the plugin knows its name',
    run(join(plugin, 'kubectl-quorate'), ['drain', '--help'], work),
    /^Usage: kubectl quorate drain/,
  );
  const bill = run('npm', ['sbom', '--omit', 'dev', '--sbom-format', 'spdx', '--sbom-type', 'application'], ROOT);
  expect('the SBOM lists what runs', bill, /"name": "lmdb"/);
} finally {
  rmSync(work, { recursive: true, force: true });
}
