/**
 * Behind `npm run test:release`: runs the steps of deploy/Dockerfile in a plain folder, then scripts/release.sh for this
 * platform and the commands of the release workflow that need no account, and starts what came out of all of them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { findHelm } from '../clients/kubectl.ts';
import { readDockerfile, type Stage } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const work = mkdtempSync(join(tmpdir(), 'quorate-release-'));
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

type Environment = Readonly<Record<string, string>>;

const run = (program: string, args: readonly string[], cwd: string, env: Environment = {}): string =>
  execFileSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** For what may fail: the exit code and everything that was said. */
function attempt(program: string, args: readonly string[], cwd: string, env: Environment = {}): [number, string] {
  const { status, stderr, stdout } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return [status ?? -1, `${stdout}${stderr}`];
}

function expect(what: string, text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`${what}: ${pattern} is not in\n${text}`);
  process.stdout.write(`ok ${what}\n`);
}

function fails(what: string, [code, text]: [number, string], pattern: RegExp): void {
  if (code === 0) throw new Error(`${what}: it did not fail, and said\n${text}`);
  expect(what, text, pattern);
}

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** A folder for each stage; COPY is from the tree or from another's, RUN is run with the folder as /app. */
function build(stage: Stage, folders: Map<string, string>, architecture = ARCHITECTURE): string {
  const folder = join(work, `${stage.name ?? 'final'}-${architecture}`);
  mkdirSync(folder);
  if (stage.name !== undefined) folders.set(stage.name, folder);
  for (const { instruction, text } of stage.steps) {
    if (instruction === 'RUN') run('bash', ['-ec', text], folder, { TARGETARCH: architecture });
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

/** The image as it starts, and what of it differs for another architecture. */
function checkImage(): void {
  const stages = readDockerfile(read('deploy', 'Dockerfile'));
  const folders = new Map<string, string>();
  let image = '';
  for (const stage of stages) image = build(stage, folders);
  const entry = stages.at(-1)?.steps.find(({ instruction }) => instruction === 'ENTRYPOINT')?.text ?? '[]';
  const [program = '', ...args] = (JSON.parse(entry) as string[]).map((word) => word.replace(/^\/app/, image));
  expect('the image runs', run(program, [...args, 'operator', '--help'], image), /--webhook-port/);
  if (existsSync(join(image, 'node_modules', 'typescript')))
    throw new Error('the image holds what only building needs');
  const dependencies = stages.find(({ name }) => name === 'dependencies');
  if (dependencies === undefined) throw new Error('the Dockerfile has no stage "dependencies"');
  for (const architecture of ['amd64', 'arm64']) {
    const folder = folders.get('dependencies') ?? '';
    const made = architecture === ARCHITECTURE ? folder : build(dependencies, new Map(), architecture);
    const binaries = readdirSync(join(made, 'node_modules', '@lmdb')).join();
    expect(`the image for ${architecture} has its own store`, binaries, /^lmdb-linux-(x64|arm64)$/);
    expect('and no other', binaries, architecture === 'amd64' ? /x64/ : /arm64/);
  }
}

/** The parts of a release, each looked at as somebody would who got it. */
function checkParts(out: string): void {
  run('bash', ['scripts/release.sh', out], ROOT, {
    HELM: findHelm(),
    PLATFORMS: `${process.platform}/${process.arch}`,
  });
  const names = readdirSync(out).sort();
  expect(
    'a release has its parts',
    names.join('\n'),
    /^kubectl-quorate-\S+tar\.gz\nquorate-\d\S+\.tgz\nquorate-chart-\S+\.tgz\nquorate\.yaml$/,
  );
  const [archive = '', pack = '', chart = ''] = names.map((name) => join(out, name));
  const packed = run('tar', ['tzf', pack], work);
  expect('the package holds its door', packed, /^package\/dist\/cli\/main\.js$/m);
  if (/\.map$|^package\/(src|test|node_modules)\//m.test(packed))
    throw new Error(`the package holds too much\n${packed}`);
  checkPlugin(archive, readFileSync(join(out, 'quorate.yaml'), 'utf8'));
  checkChart(chart);
  checkLint(pack);
}

interface KrewManifest {
  readonly spec: {
    readonly platforms: readonly { readonly sha256: string; readonly bin: string; readonly uri: string }[];
  };
}

function checkPlugin(archive: string, manifest: string): void {
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  const [platform] = (parse(manifest) as KrewManifest).spec.platforms;
  expect('the krew manifest has the digest of the archive', platform?.sha256 ?? '', new RegExp(`^${digest}$`));
  expect('and its name', platform?.uri ?? '', new RegExp(`/${basename(archive)}$`));
  const plugin = join(work, 'plugin');
  mkdirSync(plugin);
  run('tar', ['xzf', archive, '-C', plugin], work);
  const program = join(plugin, platform?.bin ?? '');
  expect('the plugin knows its name', run(program, ['drain', '--help'], work), /^Usage: kubectl quorate drain/);
}

function checkChart(chart: string): void {
  const helm = findHelm();
  expect('the chart lints', run(helm, ['lint', chart], work), /0 chart\(s\) failed/);
  const rendered = run(helm, ['template', 'quorate', chart, '--namespace', 'quorate-system'], work);
  expect('the packaged chart renders', rendered, /^kind: Deployment$/m);
  const wrong = attempt(helm, ['template', 'quorate', chart, '--set', 'replicas=two'], work);
  fails('its schema refuses a wrong value and names it', wrong, /replicas/);
}

/** The action's own script and the hook's own command, in the sample repository, with the package just made. */
function checkLint(pack: string): void {
  const sample = join(work, 'sample');
  cpSync(join(ROOT, 'examples', 'lint-in-ci'), sample, { recursive: true });
  const action = parse(read('action.yml')) as { runs: { steps: { run?: string }[] } };
  const script = action.runs.steps.at(-1)?.run ?? '';
  const workflow = read('examples', 'lint-in-ci', '.github', 'workflows', 'lint.yaml');
  const paths = /paths: (.*)/.exec(workflow)?.[1] ?? '.';
  const inputs = { QUORATE_VERSION: `file:${pack}`, QUORATE_PATHS: paths, QUORATE_ARGUMENTS: '' };
  const act = () => attempt('bash', ['-e', '-c', script], sample, inputs);
  const prefix = join(work, 'hook');
  run('npm', ['install', '--silent', '--global', '--no-audit', '--no-fund', '--prefix', prefix, pack], work);
  const [hook] = parse(read('.pre-commit-hooks.yaml')) as { entry: string; args: string[] }[];
  const [program = '', ...words] = (hook?.entry ?? '').split(' ');
  const commit = () => attempt(join(prefix, 'bin', program), [...words, ...(hook?.args ?? [])], sample);
  for (const [name, lint] of [
    ['action', act],
    ['hook', commit],
  ] as const) {
    const [code, text] = lint();
    if (code !== 0) throw new Error(`the ${name} finds something in the sample repository\n${text}`);
    process.stdout.write(`ok the ${name} passes the sample repository\n`);
  }
  const web = join(sample, 'manifests', 'web.yaml');
  writeFileSync(web, readFileSync(web, 'utf8').replace('minAvailable: 2', 'minAvailable: 3'));
  fails('the action refuses a budget that blocks every drain', act(), /never-allows-drain/);
  fails('the hook refuses it', commit(), /never-allows-drain/);
}

/** The commands of the workflow between making the parts and signing them. */
function checkWorkflow(out: string): void {
  const { jobs } = parse(read('.github', 'workflows', 'release.yaml')) as {
    jobs: Record<string, { steps: { name?: string; run?: string }[] }>;
  };
  const steps = Object.values(jobs).flatMap(({ steps: all }) => all);
  const step = (name: string): string => steps.find((one) => one.name === name)?.run ?? '';
  const { version } = JSON.parse(read('package.json')) as { version: string };
  run('bash', ['-e', '-c', step('The tag is the version')], ROOT, { GITHUB_REF_NAME: `v${version}` });
  fails(
    'a tag that is not the version ends the workflow',
    [...attempt('bash', ['-e', '-c', step('The tag is the version')], ROOT, { GITHUB_REF_NAME: 'v9.9.9' })],
    /^/,
  );
  run('bash', ['-e', '-c', step('SBOM').replace('out/', `${out}/`)], ROOT);
  expect('the SBOM lists what runs', readFileSync(join(out, 'quorate.spdx.json'), 'utf8'), /"name": "lmdb"/);
  const sums =
    step('Sign')
      .split('\n')
      .find((line) => line.startsWith('sha256sum')) ?? 'false';
  run('bash', ['-e', '-c', `${sums} && sha256sum --check --quiet SHA256SUMS`], out);
  expect('the sums cover the parts', readFileSync(join(out, 'SHA256SUMS'), 'utf8'), /quorate-chart-\S+\.tgz/);
}

try {
  checkImage();
  const out = join(work, 'out');
  checkParts(out);
  checkWorkflow(out);
} finally {
  rmSync(work, { recursive: true, force: true });
}
