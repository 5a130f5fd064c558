import { renameSync, writeFileSync } from 'node:fs';
import { takeSnapshot } from '../../tasks/index.ts';
import { withCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { count } from '../shared/terminal.ts';

export interface SnapshotFlags extends ClusterFlags {
  readonly output: string;
}

export async function runSnapshot(flags: SnapshotFlags): Promise<number> {
  const { stderr } = process;
  return withCluster('snapshot', flags, async (cluster) => {
    const onProgress = stderr.isTTY ? (text: string) => stderr.write(`\r\u001b[2K${text}`) : undefined;
    const snapshot = await takeSnapshot(cluster.client, { now: Date.now(), onProgress });
    if (stderr.isTTY) stderr.write('\r\u001b[2K');
    const text = `${JSON.stringify(snapshot)}\n`;
    if (flags.output === '-') {
      process.stdout.write(text);
      return 0;
    }
    writeFileSync(`${flags.output}.new`, text, { mode: 0o600 });
    renameSync(`${flags.output}.new`, flags.output);
    const of = (kind: string): number => snapshot.objects.filter((object) => object.kind === kind).length;
    const left = Object.entries(snapshot.missing).map(
      ([kind, why]) => `${kind} (${why === 'Forbidden' ? 'not allowed' : 'not served'})`,
    );
    process.stdout.write(
      `Saved ${flags.output}: ${count(of('Node'), 'node')}, ${count(of('Pod'), 'pod')}, ` +
        `${count(of('PodDisruptionBudget') + of('PodUnavailableBudget'), 'budget')}, ` +
        `${count(snapshot.objects.length, 'object')} in all.\n`,
    );
    if (left.length > 0) process.stdout.write(`Left out: ${left.join(', ')}.\n`);
    return 0;
  });
}
