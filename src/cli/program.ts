import { basename } from 'node:path';
import { Command, Help } from 'commander';
import { QUORATE_VERSION } from '../api/version.ts';
import { commands } from './commands.ts';
import { complain } from './shared/complain.ts';
import { passLeadingFlags, withLeadingFlags } from './shared/flags.ts';
import { WIDTH } from './shared/terminal.ts';

/** What people type: as a plugin of kubectl it is found under another name. */
export function programName(script: string | undefined): 'quorate' | 'kubectl quorate' {
  return basename(script ?? '').startsWith('kubectl-quorate') ? 'kubectl quorate' : 'quorate';
}

/** The whole command line, ready to parse. */
export function createProgram(name = 'quorate'): Command {
  const program = new Command(name)
    .description('Keeps groups of pods whole: budgets, evictions, downscales and scheduling that count groups.')
    .version(QUORATE_VERSION, '--version', 'print the version')
    .configureHelp({
      // Wrapped also beside long names of options, as most terminals are narrow.
      minWidthToWrap: 30,
      helpWidth: Math.min(process.stdout.columns ?? WIDTH, 100),
      // That a switch is off unless it is given needs no saying.
      optionDescription: (option) =>
        Help.prototype.optionDescription.call(new Help(), option).replace(/ ?\(default: false\)$/, ''),
    })
    .showHelpAfterError(`(${name} --help shows what there is)`)
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
The flags that say which cluster (-n, --kubeconfig, --context, --as, --as-group,
--request-timeout) may stand before the command or after it.`,
    );
  const rename = name === 'quorate' ? (text: string): string => text : renamer(name);
  program.configureOutput({
    writeOut: (text) => process.stdout.write(rename(text)),
    writeErr: (text) => complain(rename(text).trimEnd()),
  });
  withLeadingFlags(program);
  passLeadingFlags(program);
  for (const register of commands) register(program);
  return program;
}

/** Examples are written with the usual name; whoever typed another gets to see that. */
const renamer =
  (name: string) =>
  (text: string): string =>
    text.replace(/(?<!kubectl |[-\w/"])quorate (?=[a-z-])/g, `${name} `);
