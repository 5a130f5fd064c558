/** `quorate snapshot`: what matters of a cluster, in one file. */
import type { Command } from 'commander';
import { withClusterFlags } from '../shared/flags.ts';
import type { SnapshotFlags } from './run.ts';

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('snapshot')
      .description('Save what matters of a cluster for drains and budgets to one file; reads only, takes no secrets')
      .option('-o, --output <file>', 'file to write; - is standard output', 'snapshot.json'),
  )
    .addHelpText(
      'after',
      `
It holds nodes, pods, budgets, groups and workloads, with labels, requests,
scheduling rules, owners and readiness. It never holds Secrets, ConfigMaps,
environment variables, commands, volumes or foreign annotations.

Examples:
  quorate snapshot
  quorate snapshot --context production -o production.json
  quorate simulate production.json --drain node-1

Exit codes: 0 saved, 1 anything else.`,
    )
    .action(async (flags: SnapshotFlags) => {
      const { runSnapshot } = await import('./run.ts');
      process.exitCode = await runSnapshot(flags);
    });
}
