/** `quorate drain`: empties nodes without breaking more groups than budgets allow. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../machinery/values/index.ts';
import { withClusterFlags } from './cluster.ts';
import { CANNOT_TELL_HELP } from './exit-codes.ts';
import type { DrainFlags } from './drain-run.ts';
import { OUTPUT_FORMATS } from './output.ts';

const EXIT_CODES = `
Examples:
  quorate drain node-1 --dry-run
  quorate drain node-1 node-2 --ignore-daemonsets --best-effort --timeout 30m

Exit codes:
  0  the nodes are drained (with --dry-run: they could be)
  1  something failed: no access, no such node, a pod that cannot be evicted
  2  --timeout passed before every pod was gone
  3  refused: budgets do not let every pod go, so nothing was touched
     (with --plan: the plan is done, and it left out what cannot go)
  4  with --plan: the cluster has changed since; nothing was touched
  5  with --plan: paused by Ctrl-C; the same command goes on
${CANNOT_TELL_HELP}

Examples:
  quorate drain node-1 --ignore-daemonsets
  quorate plan drain --selector pool=old -o json > plan.json
  quorate drain --plan plan.json   # Ctrl-C pauses, the same command goes on
  quorate drain --plan plan.json --replan     # after the cluster has changed`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('drain')
      .description('Cordon nodes and evict their pods, group by group, as far as budgets allow')
      .argument('[node...]', 'nodes to drain; their pods are looked at together')
      .option('--plan <file>', 'carry out a plan saved with quorate plan drain -o json; run again to resume')
      .option('--replan', 'with --plan: plan the same nodes again first, for the cluster as it is now')
      .option('--uncordon', 'with --plan: uncordon emptied nodes that the plan counts on, at once')
      .option('--all-or-nothing', 'start only if every pod could go now (the default)')
      .addOption(
        new Option('--best-effort', 'go as far as budgets allow and wait for the rest').conflicts('allOrNothing'),
      )
      .option('--dry-run', 'say what would happen and change nothing')
      .option('--timeout <duration>', 'give up after this long, such as 5m; 0 waits for ever', duration, 0)
      .option('--force', 'also take pods without a controller')
      .option('--ignore-daemonsets', 'leave pods of DaemonSets where they are')
      .option('--delete-emptydir-data', 'also take pods with emptyDir volumes, whose data is lost')
      .option('--grace-period <seconds>', "seconds each pod gets to stop (default: the pod's own)", wholeNumber)
      .option('--pod-selector <selector>', 'only pods with these labels')
      .option(
        '--skip-wait-for-delete-timeout <seconds>',
        'leave pods that have been terminating for longer',
        wholeNumber,
        0,
      )
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('text')),
  )
    .addHelpText('after', EXIT_CODES)
    .action(async (nodes: string[], flags: DrainFlags) => {
      if (flags.plan !== undefined && nodes.length === 0) {
        const { runDrainPlan } = await import('./drain-plan-run.ts');
        process.exitCode = await runDrainPlan(flags.plan, flags);
        return;
      }
      if (nodes.length === 0 || flags.plan !== undefined) {
        process.stderr.write('quorate drain: name nodes, or a plan with --plan FILE, and not both\n');
        process.exitCode = 1;
        return;
      }
      const { runDrain } = await import('./drain-run.ts');
      process.exitCode = await runDrain(nodes, flags);
    });
}

function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError('It must be a duration such as 30s or 5m.');
  return ms;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number from 0.');
  return value;
}
