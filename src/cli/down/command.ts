/** `quorate down`: stops the control plane that `quorate up -d` left running. */
import type { Command } from 'commander';
import { dataDirectoryOption } from '../shared/running.ts';
import type { DownFlags } from './run.ts';

export function register(program: Command): void {
  program
    .command('down')
    .description('Stop the control plane that runs in the background; what is stored stays')
    .addOption(dataDirectoryOption())
    .addHelpText(
      'after',
      `
Examples:
  quorate down
  quorate down --data-dir ./cluster

Exit codes: 0 it is stopped, or none was running; 1 it did not stop`,
    )
    .action(async (flags: DownFlags) => {
      const { runDown } = await import('./run.ts');
      process.exitCode = await runDown(flags);
    });
}
