/** `quorate evict group`: a whole group goes, or none of it. */
import { type Command, Option } from 'commander';
import {
  withClusterFlags,
  withDryRunFlag,
  withLeadingFlags,
  withNamespaceFlag,
  withOutputFlag,
} from '../shared/flags.ts';
import type { EvictGroupFlags } from './run.ts';
import { duration, wholeNumber } from '../shared/parse.ts';

const HELP = `
Examples:
  quorate evict group ml/trainer-0             the PodGroup trainer-0
  quorate evict group ml/llm --lws-group 0     group 0 of a LeaderWorkerSet
  quorate evict group ml/blue --label shard    the pods labelled shard=blue
  quorate evict group ml/llm/0 --label leaderworkerset.sigs.k8s.io/group-index
                                               the same group of llm, by label
  quorate evict group ml/trainer-0 --dry-run   only ask

Exit codes:
  0  every member is evicted (with --dry-run: they could be)
  1  something failed: no access, no such group, GroupEvictions are not served
  2  it was granted, but --timeout passed before it was carried out
  3  refused by a budget; nothing was touched`;

export function register(program: Command): void {
  const evict = program.command('evict').description('Evict pods by what they belong to');
  withLeadingFlags(evict);
  const group = evict
    .command('group')
    .description('Evict all pods of a group together, or none of them: every budget of every member is asked once')
    .argument(
      '<group>',
      'NAME or NAMESPACE/NAME of a PodGroup; with --lws-group of a LeaderWorkerSet; with --label a value of that label',
    )
    .addOption(
      new Option('--lws-group <index>', 'NAME is a LeaderWorkerSet; take this one of its groups').argParser(
        wholeNumber,
      ),
    )
    .addOption(
      new Option(
        '--label <key>',
        'NAME is the value of this label on the pods of the group (SET/VALUE for the labels of LeaderWorkerSet)',
      ).conflicts('lwsGroup'),
    )
    .option('--grace-period <seconds>', "seconds each pod gets to stop (default: the pod's own)", wholeNumber)
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for the operator of a cluster')
        .argParser(duration)
        .default(30_000, '30s'),
    );
  withDryRunFlag(group, 'change nothing; client (the default) and server both ask every budget through the API server');
  withClusterFlags(withOutputFlag(withNamespaceFlag(group)))
    .addHelpText('after', HELP)
    .action(async (group: string, flags: EvictGroupFlags) => {
      const { runEvictGroup } = await import('./run.ts');
      process.exitCode = await runEvictGroup(group, flags);
    });
}
