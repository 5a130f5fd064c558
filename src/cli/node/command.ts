/** `quorate node fail|recover`: takes power from a simulated node, and gives it back. */
import type { Command } from 'commander';
import { type ClusterFlags, withClusterFlags, withLeadingFlags } from '../shared/flags.ts';

export function register(program: Command): void {
  const node = program.command('node').description('Break and mend simulated nodes');
  withLeadingFlags(node);
  const verb = (name: string, description: string, power: 'off' | 'on'): void => {
    withClusterFlags(node.command(`${name} <node...>`).description(description)).action(
      async (names: string[], flags: ClusterFlags) => {
        const { setPower } = await import('./run.ts');
        await setPower(names, power, flags);
      },
    );
  };
  verb('fail', 'Take power from nodes: heartbeats stop and their pods freeze', 'off');
  verb('recover', 'Give power back to nodes', 'on');
}
