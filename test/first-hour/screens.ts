/** Screens of ours on a terminal of 80 columns, on the control plane of the README with names as long as people give them. */
import type { Report } from './report.ts';
import type { Terminal, Typed } from './terminal.ts';

const LONG = 'recommendation-model-training-with-a-long-name';

const SETTING = [
  `kubectl create namespace ${LONG}`,
  `kubectl create deployment ${LONG} -n ${LONG} --image=nginx --replicas=3`,
  `kubectl create poddisruptionbudget ${LONG} -n ${LONG} --selector app=${LONG} --min-available 3`,
  `kubectl wait -n ${LONG} --for=condition=Available deployment/${LONG} --timeout=60s`,
];

/** Answers, and errors with the next command. */
const ASKED = [
  'quorate why -A',
  'quorate why pdb/training',
  'quorate why podgroup/gang-0',
  'quorate why node/node-0',
  `quorate why pdb/${LONG} -n ${LONG}`,
  `quorate -n ${LONG} why pdb/${LONG}`,
  'quorate plan drain node-0',
  'quorate plan drain --all',
  'quorate drain node-0 --force --dry-run',
  'quorate evict group gang-0 --dry-run',
  'quorate top --once',
  'quorate version',
  'quorate maintenance list',
  'quorate lint',
  'quorate why pod/nothing',
  'quorate why',
  'quorate evict group gang-0 -n nowhere',
  'quorate plan drain --all node-0',
  'quorate plan drain no-such-node',
  'quorate why pdb/training --as nobody',
  'quorate why pdb/training --kubeconfig nothing',
  'quorate why pdb/training --context nothing',
  'quorate drain',
  'quorate simulate nothing.json --upgrade',
  'quorate lint nothing.yaml',
  'quorate plan drain node-0 --svg x.png',
  'quorate wyh',
];

export async function showScreens(terminal: Terminal, report: Report): Promise<void> {
  for (const command of SETTING) {
    const typed = await terminal.type(command);
    report.told(command, typed, typed.code === 0 ? undefined : `it ended with ${typed.code}`);
  }
  for (const command of ASKED) {
    const typed = await terminal.type(command);
    report.told(command, typed, problemOf(typed));
  }
  await showHelp(terminal, report);
  for (const command of ['quorate why pdb/training --watch', 'quorate plan drain node-0 --watch']) {
    await follow(terminal, report, { command, until: /training|STEP/, stop: '\u0003' });
  }
  const until = /DRAIN|No node is being drained/;
  await follow(terminal, report, { command: 'quorate top', until, stop: 'q', gone: /\u001b\[\?1049l/ });
}

/** A program of ours never ends without a word, nor with a trace of itself. */
function problemOf({ lines }: Typed): string | undefined {
  if (lines.length === 0) return 'it says nothing';
  return lines.some((line) => /^\s+at .*:\d+/.test(line)) ? 'it shows where it failed in its own code' : undefined;
}

interface Followed {
  readonly command: string;
  readonly until: RegExp;
  /** The keys that end it. */
  readonly stop: string;
  /** What it writes when it gives the terminal back; until then it would take what is typed next for its own. */
  readonly gone?: RegExp;
}

async function follow(terminal: Terminal, report: Report, { command, gone, stop, until }: Followed): Promise<void> {
  terminal.start(command);
  await terminal.until(until, command);
  const lines = terminal.screen();
  terminal.press(stop);
  if (gone !== undefined) await terminal.until(gone, command);
  const { code } = await terminal.end(command);
  report.told(command, { command, code, lines }, [0, 3, 130].includes(code) ? undefined : `it ended with ${code}`);
}

async function showHelp(terminal: Terminal, report: Report, path = 'quorate'): Promise<void> {
  const typed = await terminal.type(`${path} --help`);
  report.told(`${path} --help`, typed, typed.code === 0 ? problemOf(typed) : `it ended with ${typed.code}`);
  const list = typed.lines.slice(typed.lines.indexOf('Commands:') + 1);
  if (list.length === typed.lines.length) return;
  for (const line of list.slice(0, list.indexOf('') + 1)) {
    const name = /^ {2}([a-z-]+)/.exec(line)?.[1];
    if (name !== undefined && name !== 'help') await showHelp(terminal, report, `${path} ${name}`);
  }
}
