import { Command, Help } from 'commander';
import { QUORATE_VERSION } from '../api/version.ts';
import { commands } from './commands.ts';
import { passLeadingFlags, withLeadingFlags } from './shared/flags.ts';
import { WIDTH } from './shared/terminal.ts';

/** The whole command line, ready to parse. */
export function createProgram(): Command {
  const program = new Command('quorate')
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
    .showHelpAfterError('(quorate --help shows what there is)')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
The flags that say which cluster (-n, --kubeconfig, --context, --as, --as-group,
--request-timeout) may stand before the command or after it.`,
    );
  withLeadingFlags(program);
  passLeadingFlags(program);
  for (const register of commands) register(program);
  return program;
}
