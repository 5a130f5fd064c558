/** `quorate lint`: budgets and groups that are wrong in ways only the next outage would show. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withClusterFlags } from '../shared/flags.ts';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import type { LintFlags } from './run.ts';

const AFTER = `
Without files the cluster of the kubeconfig is looked at, all namespaces unless
--namespace names one. Folders are searched for .yaml, .yml and .json files.

Examples:
  quorate lint deploy/
  kubectl kustomize overlays/prod | quorate lint -
  quorate lint --namespace training
  quorate lint deploy/ -o sarif > lint.sarif
  quorate lint --explain never-allows-drain

A rule is left out with --disable RULE, or for one object with the annotation
lint.quorate.dev/disable: RULE[,RULE...]

Exit codes:
  0  nothing found at or above --fail-on
  1  something found
  2  bad input: unreadable files, unknown rules, no access to the cluster
${CANNOT_TELL_HELP}`;

export function register(program: Command): void {
  withClusterFlags(
    program
      .command('lint')
      .description('Find budgets and groups that are wrong, in manifests or in a cluster')
      .argument('[files...]', 'manifests or folders of them; - is standard input')
      .option('-n, --namespace <name>', 'namespace to look at; for manifests, that of objects without one')
      .addOption(
        new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'sarif']).default('text'),
      )
      .addOption(
        new Option('--fail-on <severity>', 'least severity that makes the exit code 1')
          .choices(['info', 'warning', 'error', 'none'])
          .default('warning'),
      )
      .option('--disable <rules>', 'rules to leave out, separated by commas; may be repeated', addNames)
      .option('--explain <rule>', 'explain one rule')
      .option('--rules', 'list the rules'),
  )
    .addHelpText('after', AFTER)
    // A flag that means nothing is bad input, and must not look like a finding.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (files: string[], flags: LintFlags) => {
      const { runLint } = await import('./run.ts');
      process.exitCode = await runLint(files, flags);
    });
}

function addNames(text: string, known: readonly string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('It must be names of rules, separated by commas.');
  return [...known, ...names];
}
