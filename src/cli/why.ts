/** `quorate why`: what stands between a pod and its eviction, or where a budget stands. */
import { type Command, Option } from 'commander';
import { withClusterFlags } from './cluster.ts';
import { CANNOT_TELL_HELP } from './exit-codes.ts';
import { OUTPUT_FORMATS } from './output.ts';
import type { WhyFlags } from './why-run.ts';

const AFTER = `
Examples:
  quorate why pod/trainer-0-3
  quorate why pdb/training --namespace ml
  quorate why pub/llm --namespace inference
  quorate why podgroup/trainer-0        # may the whole group go now?
  quorate why node/node-1               # may everything on a node go now?
  quorate why -A                        # which budgets let nothing go now?
  quorate why trainer-0-3 -o json

Exit codes:
  0  an eviction would be granted; with a budget, it could lose one more
  1  anything else: no such object, no API server
  3  an eviction would be refused
${CANNOT_TELL_HELP}`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('why')
      .description(
        'Explain why a pod, a group or the pods of a node may or may not be evicted now, or where budgets stand',
      )
      .argument(
        '[object]',
        'pod/NAME, pdb/NAME, pub/NAME, podgroup/NAME, node/NAME, or a name: a pod if there is one, else a budget; without any, every budget of the namespace',
      )
      .option('-n, --namespace <name>', 'namespace (default: that of the context)')
      .option('-A, --all-namespaces', 'every budget of every namespace')
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('text')),
  )
    .addHelpText('after', AFTER)
    .action(async (target: string | undefined, flags: WhyFlags) => {
      const { runWhy } = await import('./why-run.ts');
      process.exitCode = await runWhy(target, flags);
    });
}
