/** What a release is made of, as far as it can be looked at quickly; `npm run test:release` makes and runs all of it. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lintDockerfile, readDockerfile } from '../release/dockerfile.ts';
import { finish, type InstalledPackage, installPackage } from './install.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 300_000);

const run = (program: string, ...args: string[]) =>
  finish(spawn(join(dirname(installed.program), program), args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }));

test('the package says where it comes from, and holds no map of a file that is not in it', () => {
  const { homepage, keywords, repository } = JSON.parse(
    readFileSync(join(installed.folder, 'package.json'), 'utf8'),
  ) as { homepage: string; keywords: string[]; repository: { url: string } };
  expect(homepage).toMatch(/^https:/);
  expect(repository.url).toMatch(/^git\+https:.*\.git$/);
  expect(keywords).toContain('kubernetes');
  const files = readdirSync(join(installed.folder, 'dist'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
  expect(readFileSync(join(installed.folder, 'dist', 'cli', 'main.js'), 'utf8')).not.toContain('sourceMappingURL');
});

test('as a plugin of kubectl it goes by that name, in its examples too', async () => {
  const { output } = await run('kubectl-quorate', 'install', '--help');
  expect(output).toMatch(/^Usage: kubectl quorate install/);
  expect(output).toContain('kubectl quorate install | kubectl apply -f -');
  expect(output).not.toMatch(/(?<!kubectl )\bquorate install/);
  expect((await run('quorate', 'install', '--help')).output).toMatch(/^Usage: quorate install/);
});

test('the sample repository lints clean, and its README is right about what is not', async () => {
  const sample = mkdtempSync(join(tmpdir(), 'quorate-sample-'));
  try {
    cpSync(join(ROOT, 'examples', 'lint-in-ci'), sample, { recursive: true });
    const manifests = join(sample, 'manifests');
    expect((await run('quorate', 'lint', manifests)).code).toBe(0);
    const web = readFileSync(join(manifests, 'web.yaml'), 'utf8');
    writeFileSync(join(manifests, 'web.yaml'), web.replace('minAvailable: 2', 'minAvailable: 3'));
    const { code, output } = await run('quorate', 'lint', manifests);
    expect(output).toContain('never-allows-drain');
    expect(code).not.toBe(0);
  } finally {
    rmSync(sample, { recursive: true, force: true });
  }
});

test('the action and the hook run commands that there are', () => {
  const action = parse(read('action.yml')) as { inputs: object; runs: { steps: { run?: string }[] } };
  expect(Object.keys(action.inputs)).toEqual(['paths', 'version', 'arguments']);
  expect(action.runs.steps.at(-1)?.run).toContain('npx --yes "quorate@$QUORATE_VERSION" lint');
  const [hook] = parse(read('.pre-commit-hooks.yaml')) as { id: string; entry: string; language: string }[];
  expect(hook).toMatchObject({ id: 'quorate-lint', entry: 'quorate lint', language: 'node' });
  const sample = parse(read('examples', 'lint-in-ci', '.pre-commit-config.yaml')) as { repos: { hooks: object[] }[] };
  expect(sample.repos[0]?.hooks[0]).toMatchObject({ id: hook?.id });
});

test('a rootless builder can build the image: nothing needs rights, nothing is left out, nothing ends as root', () => {
  const text = read('deploy', 'Dockerfile');
  expect(lintDockerfile(text)).toEqual([]);
  expect(lintDockerfile('FROM node\nADD x y\nRUN sudo ls\nENTRYPOINT node')).toHaveLength(6);
  const stages = readDockerfile(text);
  expect(stages.map(({ name }) => name)).toEqual(['build', 'dependencies', undefined]);
  const kept = read('deploy', 'Dockerfile.dockerignore').split('\n');
  for (const { instruction, text: of } of stages.flatMap(({ steps }) => steps)) {
    if (instruction !== 'COPY' || of.startsWith('--from')) continue;
    for (const source of of.split(' ').slice(0, -1)) expect(kept).toContain(`!${source}`);
  }
});

test('the release workflow signs, writes an SBOM, and publishes for two architectures', () => {
  const workflow = parse(read('.github', 'workflows', 'release.yaml')) as {
    jobs: Record<string, { needs?: string; steps: { run?: string; with?: Record<string, unknown> }[] }>;
  };
  const commands = Object.values(workflow.jobs)
    .flatMap(({ steps }) => steps)
    .map((step) => `${step.run ?? ''} ${JSON.stringify(step.with ?? {})}`)
    .join('\n');
  for (const part of ['cosign sign-blob', 'cosign sign ', 'npm sbom', 'scripts/release.sh', 'linux/amd64,linux/arm64'])
    expect(commands).toContain(part);
  expect(workflow.jobs['package']?.needs).toBe('test');
});
