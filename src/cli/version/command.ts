/** `quorate version`: of this program, and of the API server it talks to. */
import type { Command } from 'commander';
import { withClusterFlags, withOutputFlag } from '../shared/flags.ts';
import type { VersionFlags } from './run.ts';

export function register(program: Command): void {
  const version = program
    .command('version')
    .description('Print the version of this program and of the API server')
    .option('--client', 'this program alone; asks no server', false);
  withClusterFlags(withOutputFlag(version))
    .addHelpText(
      'after',
      `
Examples:
  quorate version
  quorate version --client
  quorate version -o json

Exit codes:
  0  printed
  1  the API server could not be asked; the version of this program is printed`,
    )
    .action(async (flags: VersionFlags) => {
      const { runVersion } = await import('./run.ts');
      process.exitCode = await runVersion(flags);
    });
}
