/** `quorate scheduler`: schedules pods of a cluster that asked for it, groups whole. */
import type { Command } from 'commander';
import { STOPPED_HELP } from '../shared/exit-codes.ts';
import { withKubeconfigFlags } from '../shared/flags.ts';
import { wholeNumber } from '../shared/parse.ts';
import type { SchedulerFlags } from './run.ts';

export function register(program: Command): void {
  const scheduler = program
    .command('scheduler')
    .description('Run as a scheduler of a cluster: pods that name it are placed, groups all or none')
    .option('--scheduler-name <name>', 'the spec.schedulerName of the pods to schedule', 'quorate-scheduler')
    .option('--lease-namespace <name>', 'where schedulers of one name agree who works', 'kube-system')
    .option('--bind <address>', 'address that metrics and probes are answered on', '127.0.0.1')
    .option(
      '--metrics-port <port>',
      'port of /metrics, /livez and /readyz (HTTPS); 0 takes a free one',
      wholeNumber,
      8081,
    )
    .option('--metrics-open', 'let anybody read /metrics, without TLS (for a laptop)')
    .option('--log-level <level>', 'debug, info, warn, error, silent', 'info')
    .option('--log-format <format>', 'text, json', 'text');
  withKubeconfigFlags(scheduler)
    .addHelpText('after', STOPPED_HELP)
    .action(async (flags: SchedulerFlags) => {
      const { runScheduler } = await import('./run.ts');
      await runScheduler(flags);
    });
}
