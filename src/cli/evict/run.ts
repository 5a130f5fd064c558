import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { isLeaderWorkerSetKey } from '../../decisions/unavailability/index.ts';
import { evictGroup, type GroupOutcome, type GroupResult } from '../../tasks/index.ts';
import { systemClock } from '../../machinery/runtime/index.ts';
import { withCluster } from '../shared/cluster.ts';
import type { ClusterFlags, DryRun } from '../shared/flags.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';

export interface EvictGroupFlags extends ClusterFlags {
  readonly lwsGroup?: number;
  readonly label?: string;
  readonly gracePeriod?: number;
  readonly dryRun?: DryRun;
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
  return withCluster('evict group', flags, async (cluster) => {
    const { name, namespace } = parseGroup(group, {
      given: flags.namespace,
      otherwise: cluster.namespace,
      label: flags.label,
    });
    const result = await evictGroup(
      { client: cluster.client, clock: systemClock },
      { namespace, spec: specOf(name, flags), dryRun: (flags.dryRun ?? 'none') !== 'none', timeoutMs: flags.timeout },
    );
    process.stdout.write(formatOutput(result, formatResult(result), flags.output));
    return EXIT_CODES[result.outcome];
  });
}

/**
 * `NAMESPACE/NAME` or `NAME`. By a label of LeaderWorkerSet's own the name is `SET/VALUE`; values of other labels have no
 * slash.
 */
export function parseGroup(
  group: string,
  { given, label, otherwise }: { given?: string | undefined; otherwise: string; label?: string | undefined },
): { namespace: string; name: string } {
  const form = label !== undefined && isLeaderWorkerSetKey(label) ? 'SET/VALUE' : 'NAME';
  const length = form.split('/').length;
  const parts = group.split('/');
  if (parts.includes('') || parts.length < length || parts.length > length + 1) {
    throw new Error(`cannot read "${group}": it must be NAMESPACE/${form} or ${form}`);
  }
  const name = parts.slice(-length).join('/');
  const [namespace] = parts.slice(0, -length);
  if (namespace !== undefined && given !== undefined && given !== namespace) {
    throw new Error(`"${group}" is in namespace ${namespace}, but --namespace says ${given}`);
  }
  return { namespace: namespace ?? given ?? otherwise, name };
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
