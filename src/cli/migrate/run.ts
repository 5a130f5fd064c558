import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import {
  deleteOld,
  exportGroups,
  importGroups,
  MigrationError,
  type MigrationResult,
  writeTwins,
} from '../../tasks/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import type { ClusterFlags, DryRun } from '../shared/flags.ts';
import { count } from '../shared/terminal.ts';

export interface MigrateFlags extends ClusterFlags {
  readonly export?: string;
  readonly deleteOld?: boolean;
  readonly import?: boolean;
  readonly dryRun?: DryRun;
}

const REFUSED = 3;

export async function runMigrateGroups(flags: MigrateFlags): Promise<number> {
  const dryRun = (flags.dryRun ?? 'none') !== 'none';
  try {
    const cluster = openCluster(flags);
    const write = (line: string): boolean => process.stdout.write(`${line}\n`);
    const did = (what: string): void => void write(dryRun ? `would ${what}` : what);
    const options = { now: Date.now(), dryRun, did };
    try {
      if (flags.export !== undefined) {
        const objects = await exportGroups(cluster.client);
        if (!dryRun) writeFileSync(flags.export, objects.map((one) => `---\n${stringify(one)}`).join(''));
        write(`${dryRun ? 'would write' : 'wrote'} ${count(objects.length, 'object')} to ${flags.export}`);
      }
      const step = flags.deleteOld === true ? deleteOld : flags.import === true ? importGroups : writeTwins;
      write(summaryOf(await step(cluster.client, options), { ...flags, dryRun }));
      return 0;
    } finally {
      cluster.close();
    }
  } catch (error) {
    return failWith('migrate groups', error, error instanceof MigrationError ? REFUSED : 1);
  }
}

type Step = Pick<MigrateFlags, 'deleteOld' | 'import'> & { readonly dryRun: boolean };

function summaryOf({ budgets, groups, pods }: MigrationResult, flags: Step): string {
  const what = `${count(groups, 'group object')}, ${count(pods, 'pod')}; ${count(budgets, 'budget')} count the same`;
  if (flags.dryRun) return `${what}; nothing was changed`;
  if (flags.deleteOld === true) return `${what}\nNow upgrade the control plane, then: quorate migrate groups --import`;
  if (flags.import === true) return what;
  return `${what}\nNext, before the upgrade: quorate migrate groups --delete-old`;
}
