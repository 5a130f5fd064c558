/** `quorate plan drain`: in which order to empty nodes, so that groups go down as rarely as possible. */
import type { Command } from 'commander';
import { withClusterFlags, withLeadingFlags, withOutputFlag } from '../shared/flags.ts';
import { duration } from '../shared/parse.ts';
import { readyAfterOption } from '../shared/ready-after.ts';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import { withWatchFlag } from '../shared/watch.ts';
import type { PlanFlags } from './run.ts';

export function register(program: Command): void {
  const plan = program.command('plan').description('Plan work on a cluster before doing it; nothing is changed');
  withLeadingFlags(plan);
  const drain = plan
    .command('drain [nodes...]')
    .description('Plan a drain of several nodes: steps that respect every budget, with as few groups down as possible')
    .option('-l, --selector <labels>', 'every node with these labels')
    .option('--all', 'every node', false)
    .option('--nodes-return', 'drained nodes come back empty, as in an upgrade (default with --all)', false)
    .option('--node-downtime <duration>', 'how long a drained node is away before it comes back', duration, 0)
    .addOption(
      readyAfterOption(
        { byWorkload: new Map() },
        'of a workload, first what is told for it, then what the record says, what its pods took when they last started, what is told for all',
      ),
    )
    .option('--stop-after <duration>', 'how long pods take to stop, at most their grace period', duration)
    .option('--reserve', 'say in the plan which room is to be kept for every group', false)
    .option(
      '--allow-exchange',
      "let groups go into each other's room in one step; until then others may take it",
      false,
    );
  withClusterFlags(withWatchFlag(withOutputFlag(drain, ['table', 'json', 'yaml', 'mermaid'])))
    .addHelpText(
      'after',
      `
Examples:
  quorate plan drain node-1 node-2
  quorate plan drain -l pool=old
  quorate plan drain --all -o json > plan.json   # for quorate drain --plan

Exit codes:
  0  everything can be drained
  1  anything else: no access, no such node
  3  something cannot be drained; the plan says what and why
${CANNOT_TELL_HELP}`,
    )
    .action(async (nodes: string[], flags: PlanFlags) => {
      const { runPlanDrain } = await import('./run.ts');
      await runPlanDrain(nodes, flags);
    });
}
