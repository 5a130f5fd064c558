/** `quorate dashboard`: the page about groups, budgets and drains, for the cluster of a kubeconfig. */
import { type Command, InvalidArgumentError } from 'commander';
import { withClusterFlags } from '../shared/flags.ts';
import type { DashboardFlags } from './run.ts';

const AFTER = `
It listens on loopback only and prints a link that works once; a browser that
has used it stays logged in for 12 hours, or until the command stops. The page
sees what your kubeconfig lets you see, and changes nothing unless it was
started with --allow-writes.

Examples:
  quorate dashboard
  quorate dashboard --context production --port 8001
  quorate dashboard --link      # for the page that quorate up serves itself

Exit codes: 0 stopped, 1 anything else`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('dashboard')
      .description('Show groups, budgets and drains of a cluster in a browser')
      .option('--port <port>', 'port on loopback; 0 takes a free one', portNumber, 0)
      .option('-n, --namespace <name>', 'where to look if you may not list all namespaces (default: of the context)')
      .option(
        '--allow-writes',
        'let the page cordon, drain, pause and resume, with your rights, after it has asked you',
      )
      .option('--link', 'print a link to the page that quorate up serves on its own port, for your user, and end'),
  )
    .addHelpText('after', AFTER)
    .action(async (flags: DashboardFlags) => {
      const { runDashboard } = await import('./run.ts');
      await runDashboard(flags);
    });
}

function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
  }
  return value;
}
