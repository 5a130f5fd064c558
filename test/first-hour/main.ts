/**
 * `npm run test:first-hour`: a first hour with the packed package in an empty folder. Types on a terminal of 80 columns what
 * README and the guides say, compares what comes with what they promise, and looks at every screen of ours for lines that do
 * not fit. With a folder as argument it leaves the screens there. Needs Linux (`script`), as CI has it; nothing is asked
 * of a registry: what `npm install` would bring is put where it would.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findKubectl } from '../clients/kubectl.ts';
import { installTarball, runToEnd } from '../package/tarball.ts';
import { type Block, blocksOf, promised, type Step } from './pages.ts';
import { Report } from './report.ts';
import { showScreens } from './screens.ts';
import { Terminal, type Typed } from './terminal.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Of a clone, of the registry, or for other places than a laptop: not this hour. */
const ELSEWHERE = [/^npm (ci|test|start)\b/, /^npm install /, /^quorate (install|doctor)\b/, /^cosign /, /^sha256sum /];
/** Typed in a way that leaves the rest of the machine alone. */
const INSTEAD: Readonly<Record<string, string>> = {
  'npx quorate up': 'npx quorate up --port 0',
  'quorate up': 'quorate up -d --port 0 --kubeconfig-merge',
  'quorate demo upgrade': 'quorate demo upgrade --fast',
};

// A home as short as people's are: a path in what is printed is one word, which nobody folds.
const work = mkdtempSync(join(tmpdir(), 'hour-'));
const folder = join(work, 'empty');
const report = new Report(process.argv[2]);
const open: Terminal[] = [];

async function openTerminal(): Promise<Terminal> {
  // As on a machine where nothing was set up, and without npm's spinner, which ends up in what is read.
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^(KUBECONFIG|NO_COLOR|XDG_\w+)$/i.test(name));
  const env: NodeJS.ProcessEnv = { ...Object.fromEntries(kept), npm_config_progress: 'false' };
  const home = join(work, 'home');
  mkdirSync(home, { recursive: true });
  const programs = [join(folder, 'node_modules', '.bin'), join(work, 'programs'), env['PATH'] ?? ''].join(delimiter);
  const terminal = new Terminal(folder, { ...env, HOME: home, TERM: 'xterm-256color', PATH: programs });
  open.push(terminal);
  await terminal.open();
  return terminal;
}

/** As users get it: packed by npm, with the page built. */
async function install(): Promise<void> {
  const printed = await runToEnd('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], ROOT);
  mkdirSync(folder);
  await installTarball(join(work, printed.trim().split('\n').at(-1) ?? ''), folder);
  mkdirSync(join(work, 'programs'));
  const kubectl = findKubectl();
  if (kubectl !== 'kubectl') cpSync(kubectl, join(work, 'programs', 'kubectl'));
}

const isTypedHere = ({ command }: Step): boolean => !ELSEWHERE.some((pattern) => pattern.test(command));

/** Types a block line by line; what a table says may follow what was done within a moment, so it is asked for again. */
async function typeBlock(terminal: Terminal, { page, shown, steps }: Block): Promise<void> {
  let last: Typed | undefined;
  const before: string[] = [];
  for (const { command, note } of steps.filter(isTypedHere)) {
    before.push(...(last?.lines ?? []));
    last = await terminal.type(INSTEAD[command] ?? command);
    // 3 is an answer: an eviction would be refused now.
    const ends = note.startsWith('fails') ? last.code !== 0 : [0, 3].includes(last.code);
    report.told(`${page}: ${last.command}`, last, ends ? undefined : `it ended with ${last.code}`);
  }
  for (const line of shown) {
    if (last === undefined) continue;
    const isThere = (): boolean => promised(line).test([...before, ...(last as Typed).lines].join('\n'));
    for (let look = 0; look < 60 && !isThere(); look += 1) {
      await terminal.type('sleep 0.5');
      last = await terminal.type(last.command);
    }
    report.told(`${page}: shows ${line.trim()}`, last, isThere() ? undefined : 'it does not');
  }
}

interface Up {
  readonly exported: string;
  readonly suggested: readonly string[];
  /** Ctrl-C, as the banner says. */
  stop(): Promise<void>;
}

/** `quorate up` in a terminal of its own, as a person leaves it; its banner says what to type next. */
async function bringUp(): Promise<Up> {
  const command = INSTEAD['npx quorate up'] ?? '';
  const terminal = await openTerminal();
  terminal.start(command);
  await terminal.until(/Ctrl-C stops it/, command);
  const lines = terminal.screen();
  report.told(`README.md: ${command}`, { command, code: 0, lines });
  const typed = lines.map((line) => line.trim());
  const exported = typed.find((line) => line.startsWith('export KUBECONFIG=')) ?? '';
  report.says('the banner says how to reach it, and where the dashboard is', lines, [
    /export KUBECONFIG=\S+/,
    /\/ui\/#login=/,
  ]);
  return {
    exported,
    suggested: typed.filter((line) => /^kubectl (get|create)/.test(line)),
    async stop() {
      terminal.press('\u0003');
      // npx says 130 of itself when it was interrupted.
      const ended = await terminal.end(command);
      report.told('Ctrl-C stops it', ended, [0, 130].includes(ended.code) ? undefined : `it ended with ${ended.code}`);
      report.says('it says that it has stopped, and that nothing is lost', ended.lines, [/Stopped\. The next/]);
    },
  };
}

async function readme(): Promise<void> {
  const [clone, tests, empty, ...session] = blocksOf(ROOT, 'README.md');
  if (clone === undefined || tests === undefined || empty === undefined) throw new Error('README.md has other blocks');
  const terminal = await openTerminal();
  await typeBlock(terminal, { ...empty, steps: empty.steps.filter(({ command }) => command.startsWith('cp ')) });
  const up = await bringUp();
  await terminal.type(up.exported);
  for (const command of up.suggested) {
    const typed = await terminal.type(command);
    report.told(`the banner: ${command}`, typed, typed.code === 0 ? undefined : `it ended with ${typed.code}`);
  }
  for (const block of session) await typeBlock(terminal, block);
  await showScreens(terminal, report);
  await up.stop();
}

async function guides(): Promise<void> {
  const terminal = await openTerminal();
  cpSync(join(folder, 'examples', 'lint-in-ci', 'manifests'), join(folder, 'manifests'), { recursive: true });
  for (const block of blocksOf(ROOT, 'docs/guide/install.md')) await typeBlock(terminal, block);
  for (const command of ['quorate status', 'kubectl get nodes', 'quorate logs', 'quorate down']) {
    const typed = await terminal.type(command);
    report.told(
      `docs/guide/install.md: ${command}`,
      typed,
      typed.code === 0 ? undefined : `it ended with ${typed.code}`,
    );
  }
  for (const block of blocksOf(ROOT, 'docs/guide/demo.md')) await typeBlock(terminal, block);
}

/** An hour that does not end tells what it waits for, and fails. */
const LIMIT_MS = 15 * 60_000;
const limit = setTimeout(() => {
  process.stdout.write(`WRONG it took longer than ${LIMIT_MS / 60_000} minutes; last typed: ${report.last}\n`);
  for (const terminal of open) terminal.kill();
  rmSync(work, { recursive: true, force: true });
  process.exit(1);
}, LIMIT_MS);

try {
  await install();
  await readme();
  await guides();
} finally {
  clearTimeout(limit);
  for (const terminal of open) await terminal.close();
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = report.end();
