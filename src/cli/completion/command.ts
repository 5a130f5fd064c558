/** `quorate completion`: what a shell loads to complete commands, flags and names of the cluster. */
import { Argument, type Command } from 'commander';
import { SHELLS, type Shell } from './scripts.ts';

export function register(program: Command): void {
  program
    .command('completion')
    .description('Print a script that lets your shell complete commands, flags and names')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Names of nodes, pods, groups, budgets and namespaces come from the cluster of
your kubeconfig, contexts from the file itself.

Examples:
  source <(quorate completion bash)                # now; for good: in ~/.bashrc
  source <(quorate completion zsh)
  quorate completion fish | source
  quorate completion powershell | Out-String | Invoke-Expression`,
    )
    .action(async (shell: Shell) => {
      const { SCRIPTS } = await import('./scripts.ts');
      process.stdout.write(SCRIPTS[shell]);
    });
  program
    .command('__complete', { hidden: true })
    .description('Answer the scripts of quorate completion, and kubectl')
    .argument('[words...]', 'the words typed so far, the last one perhaps empty')
    .action(async (words: string[]) => {
      const { runComplete } = await import('./run.ts');
      await runComplete(program, words);
    });
}
