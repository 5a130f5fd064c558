/** `quorate why`: what stands between a pod and its eviction, or where a budget stands. */
import { type Command, Option } from 'commander';
import { withClusterFlags } from './cluster.ts';
import { OUTPUT_FORMATS } from './output.ts';
import type { WhyFlags } from './why-run.ts';

const AFTER = `
Examples:
  quorate why pod/trainer-0-3
  quorate why pdb/training --namespace ml
  quorate why pub/llm --namespace inference
  quorate why trainer-0-3 -o json

Exit codes:
  0  an eviction would be granted
  1  anything else: no access, no such object
  3  an eviction would be refused`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('why')
      .description('Explain why a pod may or may not be evicted now, or where a budget stands')
      .argument('<object>', 'pod/NAME, pdb/NAME, pub/NAME, or a name: a pod if there is one, else a budget')
      .option('-n, --namespace <name>', 'namespace (default: that of the context)')
      .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('text')),
  )
    .addHelpText('after', AFTER)
    .action(async (target: string, flags: WhyFlags) => {
      const { runWhy } = await import('./why-run.ts');
      process.exitCode = await runWhy(target, flags);
    });
}
