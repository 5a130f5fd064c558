import { type DoctorReport, diagnose, type FindingStatus } from '../../tasks/index.ts';
import { withCluster } from '../shared/cluster.ts';
import { CANNOT_TELL } from '../shared/exit-codes.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';

export interface DoctorFlags extends ClusterFlags {
  readonly namespace: string;
  readonly strict: boolean;
  readonly output: OutputFormat;
}

const FAILED = 3;

export async function runDoctor(flags: DoctorFlags): Promise<number> {
  return withCluster('doctor', flags, async (cluster) => {
    const { client, server, transport } = cluster;
    const diagnosis = await diagnose({ client, server, transport, namespace: flags.namespace, now: Date.now });
    process.stdout.write(formatOutput(diagnosis, formatDiagnosis(diagnosis), flags.output));
    const { fail, unknown, warn } = diagnosis.counts;
    if (fail > 0 || (flags.strict && warn > 0)) return FAILED;
    return unknown > 0 ? CANNOT_TELL : 0;
  });
}

const MARKS: Readonly<Record<FindingStatus, string>> = {
  ok: 'ok  ',
  warn: 'WARN',
  fail: 'FAIL',
  skip: '-   ',
  unknown: '?   ',
};

export function formatDiagnosis({ counts, findings, server, version }: DoctorReport): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = ' '.repeat(width + 7);
  return [
    `${server} (${version})`,
    ...findings.flatMap(({ check, fix, status, what }) => [
      `${MARKS[status]} ${check.padEnd(width)}  ${what}`,
      ...(fix === undefined ? [] : [`${indent}to mend: ${fix}`]),
    ]),
    `${counts.ok} ok, ${counts.warn} to look at, ${counts.fail} failed, ${counts.unknown} cannot be told, ${counts.skip} not checked`,
  ];
}
