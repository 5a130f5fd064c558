/** `quorate history`: who let which group go down, why, and for how long. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { HISTORY_OUTCOMES } from '../../api/quorate/disruption-history.ts';
import { HISTORY_SUBJECTS } from '../../decisions/history/index.ts';
import { CANNOT_TELL_HELP } from '../shared/exit-codes.ts';
import { withClusterFlags, withNamespaceFlag } from '../shared/flags.ts';
import { duration } from '../shared/parse.ts';
import type { HistoryFlags } from './run.ts';

const AFTER = `
All namespaces are looked at unless --namespace names one. A group is named as
NAMESPACE/KIND/NAME, KIND/NAME or NAME; a pod on its own is Pod/NAME.

Examples:
  quorate history --since 7d
  quorate history group PodGroup/trainer-0
  quorate history node node-7 --since 24h
  quorate history budget web --outcome Refused
  quorate history user system:serviceaccount:kube-system:karpenter -o csv

Exit codes:
  0  shown, also where there is nothing
  1  something failed
${CANNOT_TELL_HELP}`;

export function register(program: Command): void {
  const command = program
    .command('history')
    .description('Show past disruptions: who let which group go down, why, and for how long')
    .argument('[subject]', `what to look for: ${HISTORY_SUBJECTS.join(', ')}`, subject)
    .argument('[name]', 'its name')
    .addOption(new Option('--since <time>', 'not older than this, such as 7d or 12h (default: all)').argParser(days))
    .addOption(new Option('--outcome <outcome>', 'only these').choices(HISTORY_OUTCOMES))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json', 'csv']).default('table'));
  withClusterFlags(withNamespaceFlag(command))
    .addHelpText('after', AFTER)
    .action(async (about: string | undefined, name: string | undefined, flags: HistoryFlags) => {
      const { runHistory } = await import('./run.ts');
      process.exitCode = await runHistory({ about, name }, flags);
    });
}

function subject(text: string): string {
  if (HISTORY_SUBJECTS.some((one) => one === text)) return text;
  throw new InvalidArgumentError(`It must be one of ${HISTORY_SUBJECTS.join(', ')}.`);
}

/** Durations, and days. */
function days(text: string): number {
  const found = /^(\d{1,4})d$/.exec(text);
  return found === null ? duration(text) : Number(found[1]) * 24 * 60 * 60_000;
}
