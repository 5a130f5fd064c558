/** `quorate migrate groups`: Workloads and PodGroups over an upgrade that no longer knows their version. */
import { type Command, Option } from 'commander';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import { withClusterFlags, withDryRunFlag, withLeadingFlags } from '../shared/flags.ts';
import type { MigrateFlags } from './run.ts';

export function register(program: Command): void {
  const migrate = program.command('migrate').description('Carry objects across an upgrade of Kubernetes');
  withLeadingFlags(migrate);
  const groups = migrate
    .command('groups')
    .description('Move Workloads and PodGroups of v1alpha1 and v1alpha2 to v1beta1 without restarting a pod')
    .option('--export <file>', 'also write all groups to this file, as v1beta1 has them')
    .addOption(
      new Option('--delete-old', 'before the upgrade: delete the groups that have a twin').conflicts([
        'import',
        'export',
      ]),
    )
    .addOption(
      new Option('--import', 'after the upgrade: create groups of v1beta1 from their twins').conflicts('export'),
    );
  withDryRunFlag(groups, 'say what would be done, and do nothing; client (the default) and server mean the same');
  withClusterFlags(groups)
    .addHelpText(
      'after',
      `
Examples:
  quorate migrate groups --dry-run
  quorate migrate groups --export groups.yaml   # 1: make twins
  quorate migrate groups --delete-old           # 2: then upgrade
  quorate migrate groups --import               # 3: afterwards

A twin is a copy of a group under Quorate's own definitions, which an upgrade
does not touch; budgets count by it meanwhile. Every step can be repeated, and
stops before it would change what a budget counts.

Exit codes:
  0  done
  1  something failed: no access, definitions that are missing
  3  a budget would count differently, or an earlier step is missing
${CANNOT_TELL_HELP}`,
    )
    .action(async (flags: MigrateFlags) => {
      const { runMigrateGroups } = await import('./run.ts');
      process.exitCode = await runMigrateGroups(flags);
    });
}
