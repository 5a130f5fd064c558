/** `quorate status`: whether a control plane is up here, and where. */
import type { Command } from 'commander';
import { withOutputFlag } from '../shared/flags.ts';
import { dataDirectoryOption } from '../shared/running.ts';
import type { StatusFlags } from './run.ts';

export function register(program: Command): void {
  const status = program
    .command('status')
    .description('Say whether a control plane of quorate up is running here, and where')
    .addOption(dataDirectoryOption());
  withOutputFlag(status)
    .addHelpText(
      'after',
      `
Examples:
  quorate status
  quorate status -o json

Exit codes: 0 up and ready, 1 up and not ready, 3 not up`,
    )
    .action(async (flags: StatusFlags) => {
      const { runStatus } = await import('./run.ts');
      process.exitCode = await runStatus(flags);
    });
}
