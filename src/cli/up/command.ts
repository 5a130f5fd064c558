/** `quorate up`: the embedded control plane, in the foreground or (`-d`) in the background. */
import { type Command, Option } from 'commander';
import { wholeNumberUpTo } from '../shared/parse.ts';
import { STOPPED_HELP } from '../shared/exit-codes.ts';
import { compatOption } from '../shared/flags.ts';
import { historyBytesOption, historyDaysOption } from '../shared/history-flags.ts';
import type { UpFlags } from './flags.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];
const FORMATS = ['text', 'json'];

export function register(program: Command): void {
  program
    .command('up')
    .description('Start a control plane in this process: API server, controllers and simulated nodes')
    .option('--port <port>', 'port of the API server; 0 takes a free one', wholeNumberUpTo(65_535), 6443)
    .option('--bind <address>', 'address to listen on', '127.0.0.1')
    .option('--data-dir <directory>', 'where data and secrets live (default: ~/.local/share/quorate)')
    .option('--kubeconfig <file>', 'where to write the administrator kubeconfig (default: inside the data directory)')
    .option('--nodes <count>', 'simulated nodes', wholeNumberUpTo(5000), 3)
    .option(
      '--api-only',
      'the API server alone, to try controllers of your own: no controllers, scheduler or nodes, and no kinds that Kubernetes does not have itself',
    )
    .option('--rules <names>', 'what simulated nodes derive from pod specs; see the documentation')
    .option('--feature-gates <list>', 'behaviours to switch, such as GangScheduling=false')
    .addOption(compatOption())
    .option(
      '--settling-seconds <seconds>',
      'how long a group must be missing before a budget that counted groups counts pods instead',
      wholeNumberUpTo(86_400),
      30,
    )
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LEVELS).default('warn'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(FORMATS).default('text'))
    .option(
      '--picker-allow <addresses...>',
      'CIDRs or hosts where pod pickers may live although they are loopback or link-local',
    )
    .option('--picker-deny <addresses...>', 'CIDRs or hosts that are never asked to pick pods')
    .option('--picker-ca <file>', 'PEM certificates that pod pickers may be signed by, beside those of the system')
    .addOption(historyDaysOption(30))
    .addOption(historyBytesOption('256Mi'))
    .option('--allow-writes', 'let the dashboard cordon, drain, pause and resume, with the rights of whoever uses it')
    .option('--ephemeral', 'keep everything in memory; nothing is left when it stops')
    .option('-d, --detach', 'leave it running in the background; status, logs and down find it')
    .option(
      '--kubeconfig-merge',
      'add a context "quorate" to your own kubeconfig and make it the current one, until it stops',
    )
    .addOption(new Option('--tell-parent', 'say to the process that started it when it is up').hideHelp())
    .addOption(new Option('--log-file <file>', 'where its output goes').hideHelp())
    .addHelpText(
      'after',
      `
Examples:
  quorate up
  quorate up -d --kubeconfig-merge      # in the background, kubectl set to it
  quorate up --ephemeral --port 0 --nodes 20

${STOPPED_HELP.trimStart()}`,
    )
    .action(async (flags: UpFlags) => {
      if (flags.detach === true) {
        const { runDetached } = await import('./detach.ts');
        process.exitCode = await runDetached(flags);
        return;
      }
      const { runUp } = await import('./run.ts');
      await runUp(flags);
    });
}
