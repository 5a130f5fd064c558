/** `quorate install` and `quorate uninstall`. */
import { type Command, Option } from 'commander';
import { FEATURE_NAMES } from '../../api/crds/features.ts';
import { modeOption, withClusterFlags, withDryRunFlag } from '../shared/flags.ts';
import type { InstallFlags, UninstallFlags } from './run.ts';
import { collectNamespaced, someDuration, wholeNumber } from '../shared/parse.ts';

export function register(program: Command): void {
  registerInstall(program);
  registerUninstall(program);
}

function registerInstall(program: Command): void {
  withClusterFlags(program.command('install'))
    .description('Print the manifests that install Quorate in a cluster, or apply them and wait')
    .option('-n, --namespace <name>', 'namespace to install into', 'quorate-system')
    .option('--image <image>', 'container image to run', 'quorate:latest')
    .addOption(modeOption())
    .option('--replicas <count>', 'replicas of the webhook', wholeNumber, 2)
    .option('--fail-open', 'let requests pass when no replica answers', false)
    .option('--cert-manager', 'let cert-manager issue the serving certificate', false)
    .addOption(
      new Option('--groups <who>', 'who serves Workload and PodGroup; auto asks the cluster')
        .choices(['auto', 'native', 'crd'])
        .default('auto'),
    )
    .addOption(
      new Option('--eviction-requests <who>', 'who serves EvictionRequest and Eviction; auto asks the cluster')
        .choices(['auto', 'native', 'crd'])
        .default('auto'),
    )
    .option(
      '--webhook-from <cidrs...>',
      'addresses of API servers and nodes; nobody else reaches the webhook (default: anybody)',
    )
    .addOption(
      new Option(
        '--without <features...>',
        'features to leave out, and with them the rights that only they need',
      ).choices(Object.values(FEATURE_NAMES)),
    )
    .option('--scheduler', 'also install quorate-scheduler, which places groups whole', false)
    .option('--recreate-webhooks', 'let the operator put webhook configurations back that somebody deletes', false)
    .option('--reservations', 'let the operator make pods that hold room for groups (it may then create pods)', false)
    .option('--dashboard', 'also serve the dashboard, for whoever shows a token of the cluster', false)
    .option(
      '--notice-secret <namespace/name...>',
      'Secrets with headers of calls that tell groups before they go, which the operator may then read',
      collectNamespaced,
    )
    .option('--wait', 'apply the manifests instead, and return when replicas answer and are asked', false)
    .addOption(
      new Option('--timeout <duration>', 'with --wait: give up after this long')
        .argParser(someDuration)
        .default(300_000, '5m'),
    )
    .addHelpText(
      'after',
      `
Examples:
  quorate install --wait
  quorate install | kubectl apply -f -
  quorate install --groups crd --scheduler | kubectl apply -f -
  quorate install --mode replace --image example.com/quorate:1 > quorate.yaml

In replace mode start kube-controller-manager with
--controllers=*,-disruption-controller.
Namespaces labelled policy.quorate.dev/ignore are left alone.

The webhook configurations are applied empty. A replica fills them when it is
ready, so nothing in the cluster is asked about before somebody can answer.

Exit codes:
  0  printed; with --wait: installed, and replicas answer
  1  could not be printed or applied
  3  with --wait: applied, and not ready in time; what is missing is named, and
     the cluster is left as it is`,
    )
    .action(async (flags: InstallFlags) => {
      const { runInstall } = await import('./run.ts');
      await runInstall(flags);
    });
}

function registerUninstall(program: Command): void {
  const uninstall = program
    .command('uninstall')
    .description('Remove everything that quorate install put into a cluster')
    .option('-n, --namespace <name>', 'namespace it was installed into', 'quorate-system');
  withDryRunFlag(uninstall, 'say what would be removed, and remove nothing; server: ask the API server for each');
  withClusterFlags(
    uninstall
      .option('--yes', 'do not ask on a terminal', false)
      .option('--keep-definitions', 'keep the kinds, and with them all PodUnavailableBudgets', false),
  ).action(async (flags: UninstallFlags) => {
    const { runUninstall } = await import('./run.ts');
    await runUninstall(flags);
  });
}
