/** `quorate operator`: the controllers and webhooks on a cluster that exists already. */
import { type Command, Option } from 'commander';
import { compatOption, modeOption, withKubeconfigFlags } from '../shared/flags.ts';
import { historyBytesOption, historyDaysOption } from '../shared/history-flags.ts';
import type { OperatorFlags } from './run.ts';
import { wholeNumber } from '../shared/parse.ts';

export function register(program: Command): void {
  withKubeconfigFlags(
    program
      .command('operator')
      .description('Run the controllers and admission webhooks against a cluster (see also: quorate install)')
      .addOption(modeOption())
      .option('-n, --namespace <name>', 'namespace of the leader lease and the certificate', 'quorate-system')
      .option('--bind <address>', 'address the webhook and metrics listen on', '127.0.0.1')
      .option('--webhook-port <port>', 'port of the webhook; 0 takes a free one', wholeNumber, 9443)
      .option(
        '--metrics-port <port>',
        'port of /metrics (HTTPS, for those who may get it); 0 takes a free one',
        wholeNumber,
        8080,
      )
      .option('--metrics-open', 'let anybody read /metrics, without TLS (for a laptop)')
      .option('--dashboard-port <port>', 'also serve the dashboard there (HTTPS); 0 takes a free port', wholeNumber)
      .option('--dashboard-host <name...>', 'names under which browsers reach the dashboard, such as of an Ingress')
      .option('--dashboard-writes', 'let the dashboard cordon, drain, pause and resume, with the rights of its user')
      .option('--host <name...>', 'more names or addresses the API server reaches the webhook by')
      .option('--certificates <folder>', 'folder with tls.crt, tls.key and ca.crt that somebody else renews')
      .option('--client-ca <file>', 'PEM of who signs the certificates that API servers show; only they are answered')
      .option('--client-names <names...>', 'common names those certificates may have (default: any)')
      .option('--fail-open', 'let requests pass when no replica answers')
      .option(
        '--feature-gates <list>',
        'behaviours to switch, such as PodUnavailableBudgetUpdateGate=true; may be given several times',
        (list: string, before?: string) => (before === undefined ? list : `${before},${list}`),
      )
      .addOption(compatOption())
      .option(
        '--picker-allow <addresses...>',
        'CIDRs or hosts where pod pickers may live although they are loopback or link-local',
      )
      .option('--picker-deny <addresses...>', 'CIDRs or hosts that are never asked to pick pods')
      .option('--picker-ca <file>', 'PEM certificates that pod pickers may be signed by, beside those of the system')
      .option(
        '--settling-seconds <seconds>',
        'how long a group must be missing before a budget that counted groups counts pods instead',
        wholeNumber,
        30,
      )
      .addOption(historyDaysOption(14))
      .addOption(historyBytesOption('64Mi'))
      .addOption(
        new Option(
          '--eviction-request-controller <mode>',
          'carry out EvictionRequests, where the cluster serves them; Auto: until another controller does',
        )
          .choices(['Auto', 'On', 'Off'])
          .default('Auto'),
      )
      .option('--identity <name>', 'names this replica (default: host name and a random part)')
      .option('--log-level <level>', 'debug, info, warn, error, silent', 'info')
      .addOption(new Option('--log-format <format>', 'text or json').choices(['text', 'json']).default('text')),
  )
    .addHelpText(
      'after',
      `
Examples:
  quorate install | kubectl apply -f -    install it in the cluster
  quorate operator --host 127.0.0.1       run one replica here, for a trial

Exit codes: 0 stopped, 1 could not start, 3 lost leadership, 4 shut down
cleanly after an internal error, which is in the log`,
    )
    .action(async (flags: OperatorFlags) => {
      const { runOperator } = await import('./run.ts');
      await runOperator(flags);
    });
}
