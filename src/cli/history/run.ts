import { disruptionHistoryType, type HistoryOutcome } from '../../api/quorate/disruption-history.ts';
import { ClusterReader } from '../../tasks/index.ts';
import { askHistory, type HistorySubject } from '../../decisions/history/index.ts';
import { withCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatHistory, remarks } from './text.ts';

export interface HistoryFlags extends ClusterFlags {
  readonly output: 'table' | 'json' | 'csv';
  readonly since?: number;
  readonly outcome?: HistoryOutcome;
}

interface Asked {
  readonly about: string | undefined;
  readonly name: string | undefined;
}

export function runHistory({ about, name }: Asked, flags: HistoryFlags): Promise<number> {
  return withCluster('history', flags, async ({ client }) => {
    if (about !== undefined && name === undefined) throw new Error(`name a ${about}: quorate history ${about} NAME`);
    const now = Date.now();
    const reader = new ClusterReader(client, flags.namespace);
    const histories = await reader.list([disruptionHistoryType]);
    reader.assertComplete();
    const answer = askHistory(histories, {
      about: about === undefined || name === undefined ? undefined : { subject: about as HistorySubject, name },
      since: flags.since === undefined ? undefined : now - flags.since,
      outcome: flags.outcome,
    });
    process.stdout.write(formatHistory(answer.entries, flags.output));
    // Beside the output, which others read.
    for (const remark of remarks(answer, flags.since === undefined ? undefined : now - flags.since))
      process.stderr.write(`${remark}\n`);
    return 0;
  });
}
