/** `quorate drain`: empties nodes without breaking more groups than budgets allow. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../machinery/values/index.ts';
import { withClusterFlags } from './cluster.ts';
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
  3  refused: budgets do not let every pod go, so nothing was touched`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('drain')
      .description('Cordon nodes and evict their pods, group by group, as far as budgets allow')
      .argument('<node...>', 'nodes to drain; their pods are looked at together')
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
