/** `quorate plan drain`: in which order to empty nodes, so that groups go down as rarely as possible. */
import { type Command, Option } from 'commander';
import { withClusterFlags } from './cluster.ts';
import { CANNOT_TELL_HELP } from './exit-codes.ts';
import type { PlanFlags } from './plan-run.ts';

export function register(program: Command): void {
  const plan = program.command('plan').description('Plan work on a cluster before doing it; nothing is changed');
  withClusterFlags(
    plan
      .command('drain [nodes...]')
      .description(
        'Plan a drain of several nodes: steps that respect every budget, with as few groups down as possible',
      )
      .option('-l, --selector <labels>', 'nodes by label')
      .option('--all', 'every node', false)
      .option('--nodes-return', 'drained nodes come back empty, as in an upgrade (default with --all)', false)
      .addOption(
        new Option('-o, --output <format>', 'output format').choices(['table', 'json', 'mermaid']).default('table'),
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  quorate plan drain node-1 node-2
  quorate plan drain --selector pool=old
  quorate plan drain --all -o json > plan.json   # for quorate drain --plan

Exit codes:
  0  everything can be drained
  1  anything else: no access, no such node
  3  something cannot be drained; the plan says what and why
${CANNOT_TELL_HELP}`,
    )
    .action(async (nodes: string[], flags: PlanFlags) => {
      const { runPlanDrain } = await import('./plan-run.ts');
      await runPlanDrain(nodes, flags);
    });
}
