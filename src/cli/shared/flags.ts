/**
 * Flags that many commands have, declared once. Those that say which cluster to talk to may stand before the command
 * too, as with kubectl: `quorate -n ml why pod/a`.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isJsonPath, OUTPUT_FORMATS } from './output.ts';
import { collect, duration } from './parse.ts';

/** Where the API server is, as kubectl would choose it. */
export interface KubeconfigFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface ClusterFlags extends KubeconfigFlags {
  readonly namespace?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  /** In milliseconds; 0 waits for ever. */
  readonly requestTimeout?: number;
}

const kubeconfigOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)'),
  new Option('--context <name>', 'context of the kubeconfig'),
];

const clusterOptions = (): Option[] => [
  ...kubeconfigOptions(),
  new Option('--as <user>', 'act as this user (impersonation)'),
  new Option('--as-group <group>', 'with --as: act as a member of this group; may be repeated').argParser(collect),
  new Option('--request-timeout <duration>', 'give up on a request after this long; 0 never (default: 30s)').argParser(
    timeout,
  ),
];

/** For commands that run until they are stopped. */
export function withKubeconfigFlags(command: Command): Command {
  for (const option of kubeconfigOptions()) command.addOption(option);
  return command;
}

/** For commands that ask a cluster something. */
export function withClusterFlags(command: Command): Command {
  for (const option of clusterOptions()) command.addOption(option);
  return command;
}

export function withNamespaceFlag(command: Command): Command {
  return command.option('-n, --namespace <name>', 'namespace (default: that of the context)');
}

export function withOutputFlag(command: Command, formats: readonly string[] = OUTPUT_FORMATS): Command {
  const option = new Option('-o, --output <format>', 'output format, or jsonpath=TEMPLATE as in kubectl');
  return command.addOption(
    option
      .choices(formats)
      .argParser(outputFormat(formats))
      .default(formats[0] as string),
  );
}

const outputFormat =
  (formats: readonly string[]) =>
  (text: string): string => {
    try {
      if (formats.includes(text) || isJsonPath(text)) return text;
    } catch (error) {
      throw new InvalidArgumentError(`Cannot read the template: ${(error as Error).message}.`);
    }
    throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}, jsonpath=TEMPLATE.`);
  };

/** On the program and on commands that only hold others: the flags that may stand before a command. */
export function withLeadingFlags(command: Command): Command {
  for (const option of [...clusterOptions(), new Option('-n, --namespace <name>', 'namespace')]) {
    command.addOption(option.hideHelp());
  }
  return command;
}

/** Hands flags that stand before a command to that command. What stands after it wins. */
export function passLeadingFlags(program: Command): void {
  program.hook('preAction', (_program, action) => {
    for (let above = action.parent; above !== null; above = above.parent) {
      for (const option of above.options) {
        const name = option.attributeName();
        if (above.getOptionValueSource(name) !== 'cli') continue;
        if (!action.options.some((own) => own.attributeName() === name)) {
          action.error(`error: ${option.long} means nothing to quorate ${action.name()}`);
        }
        if (action.getOptionValueSource(name) === 'cli') continue;
        action.setOptionValueWithSource(name, above.getOptionValue(name), 'cli');
      }
    }
  });
}

/** As kubectl takes it: a number alone is seconds. */
function timeout(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  return duration(text);
}

export type DryRun = 'none' | 'client' | 'server';

const DRY_RUNS: readonly string[] = ['none', 'client', 'server'];

/** `--dry-run`, `--dry-run=client`, `--dry-run=server`; `readArguments` sees to it that a node after it is not its value. */
export function withDryRunFlag(command: Command, description: string): Command {
  return command.addOption(
    new Option('--dry-run [mode]', description).argParser((text) => {
      if (!DRY_RUNS.includes(text)) throw new InvalidArgumentError('It must be client, server or none.');
      return text;
    }),
  );
}

/** Without `=` the flag means the client's kind, and what follows is something else, as with kubectl. */
export function readArguments(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => (word === '--dry-run' && (end < 0 || at < end) ? '--dry-run=client' : word));
}

export const modeOption = (): Option =>
  new Option(
    '--mode <mode>',
    'what becomes of the built-in disruption controller. adopt: its numbers of budgets over groups are ours; alongside: we are only stricter; replace: it is switched off',
  )
    .choices(['adopt', 'alongside', 'replace'])
    .default('adopt');

export const compatOption = (): Option =>
  new Option(
    '--compat <name>',
    "kruise: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules",
  ).choices(['kruise']);
