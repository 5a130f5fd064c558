/** `quorate demo`: stories of what Quorate does, told on a control plane of their own. */
import type { Command } from 'commander';
import type { DemoFlags } from './run.ts';
import { withOutputFlag } from '../shared/flags.ts';

export function register(program: Command): void {
  const demo = program
    .command('demo')
    .description('Tell a story on a real control plane in this process; nothing is left behind')
    .argument('[story]', 'which one; without it, the one to begin with')
    .option('--list', 'list the stories there are')
    .option('--fast', 'do not wait for a reader (also when the output is no terminal)')
    .option('--keep', 'keep the control plane when the story is over, to look around with kubectl, until Ctrl-C');
  withOutputFlag(demo)
    .addHelpText(
      'after',
      `
Examples:
  quorate demo
  quorate demo --list
  quorate demo gang-drain --keep
  quorate demo upgrade --fast -o json

What a story says is read back from the API, and what it promises is checked.
Colour is used on terminals unless NO_COLOR is set.

Exit codes:
  0    the story went as told
  1    it did not, or there is no such story
  130  it was interrupted`,
    )
    .action(async (story: string | undefined, flags: DemoFlags) => {
      const { runDemo } = await import('./run.ts');
      process.exitCode = await runDemo(story, flags);
    });
}
