/** `quorate why`: what stands between a pod and its eviction, or where a budget stands. */
import type { Command } from 'commander';
import { withClusterFlags, withNamespaceFlag, withOutputFlag } from '../shared/flags.ts';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import { LIST_FORMATS } from '../shared/output.ts';
import { withWatchFlag } from '../shared/watch.ts';
import type { WhyFlags } from './run.ts';

const AFTER = `
Examples:
  quorate why pod/trainer-0-3
  quorate why pdb/training -n ml
  quorate why pub/llm -n inference
  quorate why podgroup/trainer-0        # can the whole group be evicted now?
  quorate why node/node-1               # can all go, what do drains wait for?
  quorate why -A                        # which budgets allow no eviction now?
  quorate why trainer-0-3 -o json
  quorate why -A -l team=ml             # budgets with these labels
  quorate why -A -o wide                # every budget with its numbers
  quorate why -o jsonpath='{.budgets[*].budget.name}'
  quorate why pdb/training --watch      # again whenever the answer is another

Exit codes:
  0  an eviction would be granted; with a budget, it could lose one more
  1  anything else: no such object, no API server
  3  an eviction would be refused
${CANNOT_TELL_HELP}`;

export function register(program: Command): void {
  const why = program
    .command('why')
    .description(
      'Explain why a pod, a group or the pods of a node can or cannot be evicted now, or where budgets stand',
    )
    .argument(
      '[object]',
      'pod/NAME, pdb/NAME, pub/NAME, podgroup/NAME, node/NAME, or a name: a pod if there is one, else a budget; without any, every budget of the namespace',
    );
  withNamespaceFlag(why)
    .option('-A, --all-namespaces', 'every budget of every namespace')
    .option('-l, --selector <labels>', 'every budget with these labels');
  withClusterFlags(withWatchFlag(withOutputFlag(why, LIST_FORMATS)))
    .addHelpText('after', AFTER)
    .action(async (target: string | undefined, flags: WhyFlags) => {
      const { runWhy } = await import('./run.ts');
      process.exitCode = await runWhy(target, flags);
    });
}
