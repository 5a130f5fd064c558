import type { GroupEvictionSpec } from '../api/quorate/group-eviction.ts';
import { evictGroup, type GroupOutcome, type GroupResult } from '../app/index.ts';
import { systemClock } from '../machinery/runtime/index.ts';
import { type ClusterFlags, openCluster } from './cluster.ts';
import { formatOutput, type OutputFormat } from './output.ts';

export interface EvictGroupFlags extends ClusterFlags {
  readonly lwsGroup?: number;
  readonly label?: string;
  readonly gracePeriod?: number;
  readonly dryRun?: boolean;
  readonly timeout: number;
  readonly output: OutputFormat;
}

export const EXIT_CODES: Readonly<Record<GroupOutcome, number>> = {
  Evicted: 0,
  WouldEvict: 0,
  NoSuchGroup: 1,
  Failed: 1,
  TimedOut: 2,
  Refused: 3,
};

export async function runEvictGroup(group: string, flags: EvictGroupFlags): Promise<number> {
  try {
    const cluster = openCluster(flags);
    const alive = setInterval(() => {}, 60_000);
    try {
      const { name, namespace } = parseGroup(group, flags.namespace, cluster.namespace);
      const result = await evictGroup(
        { client: cluster.client, clock: systemClock },
        { namespace, spec: specOf(name, flags), dryRun: flags.dryRun === true, timeoutMs: flags.timeout },
      );
      process.stdout.write(formatOutput(result, formatResult(result), flags.output));
      return EXIT_CODES[result.outcome];
    } finally {
      clearInterval(alive);
      cluster.close();
    }
  } catch (error) {
    process.stderr.write(`quorate evict: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** `NAMESPACE/NAME` or `NAME`. */
export function parseGroup(
  group: string,
  given: string | undefined,
  otherwise: string,
): { namespace: string; name: string } {
  const parts = group.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || first === '' || second === '') {
    throw new Error(`cannot read "${group}": it must be NAMESPACE/NAME or NAME`);
  }
  if (second === undefined) return { namespace: given ?? otherwise, name: first };
  if (given !== undefined && given !== first) {
    throw new Error(`"${group}" is in namespace ${first}, but --namespace says ${given}`);
  }
  return { namespace: first, name: second };
}

export function specOf(
  name: string,
  { gracePeriod, label, lwsGroup }: Pick<EvictGroupFlags, 'gracePeriod' | 'label' | 'lwsGroup'>,
): GroupEvictionSpec {
  const grace = gracePeriod === undefined ? {} : { gracePeriodSeconds: gracePeriod };
  if (lwsGroup !== undefined) return { leaderWorkerSet: { name, groupIndex: lwsGroup }, ...grace };
  return label === undefined ? { podGroupName: name, ...grace } : { groupLabel: { key: label, value: name }, ...grace };
}

export function formatResult({
  causes = [],
  group,
  message,
  name,
  namespace,
  outcome,
  pods = [],
}: GroupResult): string[] {
  const members = pods.length > 0 ? `: ${pods.join(', ')}` : '';
  switch (outcome) {
    case 'Evicted':
      return [`Group ${group} in ${namespace} is evicted (${name})${members}.`];
    case 'WouldEvict':
      return [`Group ${group} in ${namespace} could be evicted${members}. Nothing was changed.`];
    default:
      return [
        ...(message === undefined ? [] : [message]),
        ...causes.flatMap(({ message: text, reason }) =>
          text === undefined || (message ?? '').includes(text)
            ? []
            : [reason === 'QuorateUnblock' ? `To unblock: ${text}.` : `  ${text}`],
        ),
      ];
  }
}
