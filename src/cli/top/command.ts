/** `quorate top`: budgets, groups and drains of a cluster as they change. */
import type { Command } from 'commander';
import { withClusterFlags } from '../shared/flags.ts';
import type { TopFlags } from './run.ts';

const AFTER = `
On a terminal it fills the screen and follows every change; q or Ctrl-C ends it.
What matters most comes first: budgets that hold back the most pods, then
groups that are down, going or being placed, then nodes that are being drained.
Piped, it prints what there is and then a line for each change.

Examples:
  quorate top
  quorate top -n ml
  quorate top --once                    # print the screen once, and end
  quorate top | tee drains.log

Exit codes: 0 you ended it, 1 it could not go on`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('top')
      .description('Show budgets, groups and drains of a cluster as they change')
      .option('-n, --namespace <name>', 'only this namespace (default: every one you may read)')
      .option('--once', 'print the screen once, and end'),
  )
    .addHelpText('after', AFTER)
    .action(async (flags: TopFlags) => {
      const { runTop } = await import('./run.ts');
      await runTop(flags);
    });
}
