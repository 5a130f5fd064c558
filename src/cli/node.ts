/** `quorate node fail|recover`: takes power from a simulated node, and gives it back. */
import type { Command } from 'commander';

interface NodeFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function register(program: Command): void {
  const node = program.command('node').description('Break and mend simulated nodes');
  const verb = (name: string, description: string, power: 'off' | 'on'): void => {
    node
      .command(`${name} <node...>`)
      .description(description)
      .option('--kubeconfig <file>', 'kubeconfig to use')
      .option('--context <name>', 'context of the kubeconfig to use')
      .action(async (names: string[], flags: NodeFlags) => {
        const { setPower } = await import('./node-run.ts');
        await setPower(names, power, flags);
      });
  };
  verb('fail', 'Take power from nodes: heartbeats stop and their pods freeze', 'off');
  verb('recover', 'Give power back to nodes', 'on');
}
