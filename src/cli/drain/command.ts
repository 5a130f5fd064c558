/** `quorate drain`: empties nodes without breaking more groups than budgets allow. */
import { type Command, Option } from 'commander';
import { withClusterFlags, withDryRunFlag, withOutputFlag } from '../shared/flags.ts';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import type { DrainFlags } from './flags.ts';
import { duration, wholeNumber } from '../shared/parse.ts';
import { complain } from '../shared/complain.ts';

const AFTER = `
Examples:
  quorate drain node-1 --dry-run
  quorate drain node-1 node-2 --ignore-daemonsets --best-effort --timeout 30m
  quorate drain node-1                        # Ctrl-C pauses and says what next
  quorate drain -l pool=old --dry-run
  quorate drain node-1 node-2 --detach        # goes on without this terminal
  quorate plan drain -l pool=old -o json > plan.json
  quorate drain --plan plan.json              # Ctrl-C pauses, the same resumes
  quorate drain --plan plan.json --replan     # after the cluster has changed

Exit codes:
  0  the nodes are drained (with --dry-run: they could be)
  1  something failed: no access, no such node, a pod that cannot be evicted
  2  --timeout passed before every pod was gone
  3  refused: budgets do not let every pod go, so nothing was touched
     (with --plan: the plan is done, and it left out what cannot go)
  4  with --plan: the cluster has changed since; nothing was touched
  5  paused by Ctrl-C: quorate maintenance resume goes on
     (with --plan: the same command does)
${CANNOT_TELL_HELP}`;

export function register(program: Command): void {
  const drain = program
    .command('drain')
    .description('Cordon nodes and evict their pods, group by group, as far as budgets allow')
    .argument('[node...]', 'nodes to drain, judged together')
    .option('-l, --selector <labels>', 'every node with these labels, instead of names')
    .option('--plan <file>', 'carry out a plan saved with quorate plan drain -o json; run again to resume')
    .option('--replan', 'with --plan: plan the same nodes again first, for the cluster as it is now')
    .option('--allow-exchange', "with --replan: let groups go into each other's room in one step")
    .option('--uncordon', 'with --plan: uncordon emptied nodes that the plan counts on, at once')
    .option('--all-or-nothing', 'start only if every pod could go now (the default)')
    .addOption(
      new Option('--best-effort', 'go as far as budgets allow and wait for the rest').conflicts('allOrNothing'),
    )
    .option('--timeout <duration>', 'give up after this long, such as 5m; 0 waits for ever', duration, 0)
    .option('--detach', 'make a Maintenance that does it, and return; quorate maintenance shows and steers it')
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
    );
  withDryRunFlag(
    drain,
    'change nothing; client (the default) works out what would happen, server also asks the API server',
  );
  withClusterFlags(withOutputFlag(drain))
    .addHelpText('after', AFTER)
    .action(async (nodes: string[], flags: DrainFlags) => {
      const unfit = unfitFlags(flags);
      if (unfit !== undefined) {
        complain(`quorate drain: ${unfit}`);
        process.exitCode = 1;
        return;
      }
      if (flags.plan !== undefined && nodes.length === 0 && flags.selector === undefined) {
        const { runDrainPlan } = await import('./plan-run.ts');
        process.exitCode = await runDrainPlan(flags.plan, flags);
        return;
      }
      if ([nodes.length > 0, flags.selector !== undefined, flags.plan !== undefined].filter(Boolean).length !== 1) {
        complain(
          'quorate drain: name nodes, or select them with -l, or a plan with --plan FILE, and one of these only',
        );
        process.exitCode = 1;
        return;
      }
      if (flags.detach === true) {
        const { runDetached } = await import('./detach.ts');
        process.exitCode = await runDetached(nodes, flags);
        return;
      }
      const { runDrain } = await import('./run.ts');
      process.exitCode = await runDrain(nodes, flags);
    });
}

/** What would silently do nothing beside the other flags. */
function unfitFlags({
  allowExchange,
  bestEffort,
  dryRun,
  plan,
  podSelector,
  replan,
  uncordon,
}: DrainFlags): string | undefined {
  if (allowExchange && !replan)
    return '--allow-exchange goes with --plan FILE --replan; a plan says itself whether groups exchange room';
  if (plan === undefined)
    return replan || uncordon ? `${replan ? '--replan' : '--uncordon'} goes with --plan FILE` : undefined;
  if (podSelector !== undefined)
    return '--pod-selector does not go with --plan: a plan says itself which pods go; plan again to leave some out';
  if (bestEffort) return '--best-effort does not go with --plan: a plan waits for budgets at each step';
  if (dryRun === 'server')
    return '--dry-run=server does not go with --plan: budgets are asked at each step; use --dry-run';
  return undefined;
}
