/** `quorate doctor`: what is wrong with Quorate on a cluster, and how to mend it. */
import type { Command } from 'commander';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import { withClusterFlags, withOutputFlag } from '../shared/flags.ts';
import type { DoctorFlags } from './run.ts';

export function register(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Check Quorate on a cluster: versions, definitions, webhooks, certificates, leader, budgets, clocks')
    .option('-n, --namespace <name>', 'namespace Quorate is installed in', 'quorate-system')
    .option('--strict', 'count warnings as failures', false);
  withClusterFlags(withOutputFlag(doctor))
    .addHelpText(
      'after',
      `
Examples:
  quorate doctor
  quorate doctor --context production -o json

Nothing is changed: whether the webhook can be reached is tried by a dry run.

Exit codes:
  0  nothing failed
  1  the cluster could not be examined
  3  something failed
${CANNOT_TELL_HELP}`,
    )
    .action(async (flags: DoctorFlags) => {
      const { runDoctor } = await import('./run.ts');
      process.exitCode = await runDoctor(flags);
    });
}
