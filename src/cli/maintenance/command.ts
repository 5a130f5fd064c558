/** `quorate maintenance`: drains that are objects: which there are, how far they are, pause, resume, cancel. */
import type { Command } from 'commander';
import { withClusterFlags, withLeadingFlags, withOutputFlag } from '../shared/flags.ts';
import { LIST_FORMATS } from '../shared/output.ts';
import type { ChangeFlags, ListFlags, ShowFlags } from './run.ts';

const CODES = `
Exit codes:
  0  done
  1  something failed: no access, no such maintenance, a change that is refused`;

export function register(program: Command): void {
  const maintenance = program
    .command('maintenance')
    .alias('mnt')
    .description('Follow drains that run in the cluster; pause, resume or cancel them');
  withLeadingFlags(maintenance);
  withClusterFlags(withOutputFlag(maintenance.command('list'), LIST_FORMATS))
    .description('List maintenances: phase, step, nodes drained, groups down, what they wait for')
    .addHelpText(
      'after',
      `\nExamples:\n  quorate maintenance list\n  quorate maintenance list -o wide     # and what each is for\n${CODES}`,
    )
    .action(async (flags: ListFlags) => {
      const { runList } = await import('./run.ts');
      process.exitCode = await runList(flags);
    });
  const show = maintenance
    .command('show')
    .argument('<name>', 'name of a maintenance')
    .description('Show one: its plan, nodes, what is in the way and what would help')
    .option('-w, --watch', 'keep printing what changes, until it ends');
  withClusterFlags(withOutputFlag(show, ['text', 'name', 'json', 'yaml']))
    .addHelpText(
      'after',
      `
Examples:
  quorate maintenance show kernel-update
  quorate maintenance show kernel-update --watch

Exit codes:
  0  shown; with --watch: it is Done
  1  something failed: no access, no such maintenance
  2  with --watch: it ended as Failed or Cancelled`,
    )
    .action(async (name: string, flags: ShowFlags) => {
      const { runShow } = await import('./run.ts');
      process.exitCode = await runShow(name, flags);
    });
  steer(maintenance, 'pause', 'Start no further step; pods that are already being evicted still go');
  steer(maintenance, 'resume', 'Continue a paused maintenance; it plans again if the cluster has changed');
  steer(maintenance, 'cancel', 'End it for good and release its nodes');
}

function steer(maintenance: Command, verb: 'pause' | 'resume' | 'cancel', description: string): void {
  const command = maintenance.command(verb).argument('<name>', 'name of a maintenance').description(description);
  withClusterFlags(command)
    .addHelpText('after', `\nExamples:\n  quorate maintenance ${verb} kernel-update\n${CODES}`)
    .action(async (name: string, flags: ChangeFlags) => {
      const { runChange } = await import('./run.ts');
      process.exitCode = await runChange(verb, name, flags);
    });
}
