/** `quorate evict group`: a whole group goes, or none of it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../machinery/values/index.ts';
import { withClusterFlags } from './cluster.ts';
import type { EvictGroupFlags } from './evict-run.ts';
import { OUTPUT_FORMATS } from './output.ts';
import { wholeNumber } from './parse.ts';

const HELP = `
Examples:
  quorate evict group ml/trainer-0             the PodGroup trainer-0
  quorate evict group ml/llm --lws-group 0     group 0 of a LeaderWorkerSet
  quorate evict group ml/blue --label shard    the pods labelled shard=blue
  quorate evict group ml/trainer-0 --dry-run   only ask

Exit codes:
  0  every member was told to go (with --dry-run: they could be)
  1  something failed: no access, no such group, GroupEvictions are not served
  2  it was granted, but --timeout passed before it was carried out
  3  refused: a budget does not agree, so nothing was touched`;

export function register(program: Command): void {
  const evict = program.command('evict').description('Evict pods by what they belong to');
  withClusterFlags(
    evict
      .command('group')
      .description('Evict all pods of a group together, or none of them: every budget of every member is asked once')
      .argument('<group>', 'NAMESPACE/NAME or NAME; the name of a PodGroup unless a flag says otherwise')
      .option('-n, --namespace <name>', 'namespace (default: that of the context)')
      .addOption(
        new Option('--lws-group <index>', 'NAME is a LeaderWorkerSet; take this one of its groups').argParser(
          wholeNumber,
        ),
      )
      .addOption(
        new Option('--label <key>', 'NAME is the value of this label on the pods of the group').conflicts('lwsGroup'),
      )
      .option('--grace-period <seconds>', "seconds each pod gets to stop (default: the pod's own)", wholeNumber)
      .option('--dry-run', 'ask every budget and change nothing')
      .addOption(
        new Option('--timeout <duration>', 'how long to wait for the operator of a cluster')
          .argParser(duration)
          .default(30_000, '30s'),
      )
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('text')),
  )
    .addHelpText('after', HELP)
    .action(async (group: string, flags: EvictGroupFlags) => {
      const { runEvictGroup } = await import('./evict-run.ts');
      process.exitCode = await runEvictGroup(group, flags);
    });
}

function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError('It must be a duration such as 30s or 5m.');
  return ms;
}
