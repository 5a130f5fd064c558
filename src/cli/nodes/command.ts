/** `quorate nodes`: simulated nodes for an API server that has no kubelets. */
import { type Command, InvalidArgumentError } from 'commander';
import { STOPPED_HELP } from '../shared/exit-codes.ts';
import { withKubeconfigFlags } from '../shared/flags.ts';
import type { NodesFlags } from './run.ts';
import { commaList, wholeNumber } from '../shared/parse.ts';

export function register(program: Command): void {
  const nodes = program
    .command('nodes')
    .description('Simulate nodes against any API server: they register, heartbeat, and run pods without containers')
    .option(
      '--count <count>',
      'nodes to create; nodes that carry the annotation for simulated ones are run too',
      wholeNumber,
      3,
    )
    .option('--prefix <text>', 'what their names start with', 'node-')
    .option('--zones <names>', 'zones to spread them over, separated by commas', commaList)
    .option('--capacity <quantities>', 'such as cpu=64,memory=512Gi,nvidia.com/gpu=8', quantities)
    .option('--rules <names>', 'probe, deadline, hostport, image, exit, separated by commas (default: probe)')
    .option('--seed <number>', 'the same seed gives the same delays', wholeNumber, 1)
    .option('--heartbeat <seconds>', 'how often each node renews its Lease', wholeNumber, 10)
    .option('--log-level <level>', 'debug, info, warn, error, silent', 'warn');
  withKubeconfigFlags(nodes)
    .addHelpText('after', STOPPED_HELP)
    .action(async (flags: NodesFlags) => {
      const { runNodes } = await import('./run.ts');
      await runNodes(flags);
    });
}

function quantities(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const part of commaList(text)) {
    const [name, value] = part.split('=');
    if (!name || !value) throw new InvalidArgumentError(`"${part}" is not of the form name=quantity.`);
    found[name] = value;
  }
  return found;
}
