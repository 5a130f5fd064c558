/** `quorate logs`: what the control plane in the background says. */
import type { Command } from 'commander';
import { wholeNumber } from '../shared/parse.ts';
import { dataDirectoryOption } from '../shared/running.ts';
import type { LogsFlags } from './run.ts';

export function register(program: Command): void {
  program
    .command('logs')
    .description('Print the log of the control plane in the background (for logs of pods: kubectl logs)')
    .addOption(dataDirectoryOption())
    .option('-f, --follow', 'keep printing what is logged, until Ctrl-C or until it stops')
    .option('--tail <lines>', 'only the last lines', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  quorate logs
  quorate logs -f --tail 20

Exit codes: 0 printed, 1 there is no log`,
    )
    .action(async (flags: LogsFlags) => {
      const { runLogs } = await import('./run.ts');
      process.exitCode = await runLogs(flags);
    });
}
