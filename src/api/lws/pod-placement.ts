/** What a set's topology annotations and subgroups mean for one of its pods. */
import type { Pod, PodAffinityTerm } from '../generated/core-v1.ts';
import { groupKeyOf } from './group-key.ts';
import { LWS } from './types.ts';

/** The subgroup of a pod of a group. A leader that is one too many for its subgroup is in the first. */
export function subGroupIndexOf(
  workerIndex: number,
  { size, subGroupSize }: { size: number; subGroupSize: number },
): number {
  const leaderIsExtra = (size - 1) % subGroupSize === 0;
  return Math.floor(Math.max(0, leaderIsExtra ? workerIndex - 1 : workerIndex) / subGroupSize);
}

/** Says which subgroup a new pod is in, and keeps subgroups that want a domain of their own apart. */
export function markSubGroup(pod: Pod, { leader, workerIndex }: { leader: string; workerIndex: number }): void {
  const { annotations = {}, labels = {} } = pod.metadata;
  const subGroupSize = Number(annotations[LWS.subGroupSize]);
  const size = Number(annotations[LWS.size]);
  if (!(subGroupSize >= 1) || !(size >= 1) || labels[LWS.subGroupIndex]) return;
  if (workerIndex === 0 && annotations[LWS.subGroupType] === 'LeaderExcluded') return;
  const index = String(subGroupIndexOf(workerIndex, { size, subGroupSize }));
  const key = groupKeyOf(leader, index);
  pod.metadata.labels = { ...labels, [LWS.subGroupIndex]: index, [LWS.subGroupKey]: key };
  keepToItself(pod, annotations[LWS.subGroupExclusiveTopology], { label: LWS.subGroupKey, key });
}

/**
 * Has the pods that carry this value of a label share one domain of a topology, and nobody else there who carries another.
 * Terms that the template brings for the same topology are left as they are.
 */
export function keepToItself(
  { spec }: Pick<Pod, 'spec'>,
  topologyKey: string | undefined,
  { key, label }: { label: string; key: string },
): void {
  if (topologyKey === undefined || topologyKey === '' || spec === undefined) return;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const together = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const apart = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const names = (terms: readonly PodAffinityTerm[]): boolean => terms.some((term) => term.topologyKey === topologyKey);
  if (names(together) && names(apart)) return;
  const same = { key: label, operator: 'In', values: [key] };
  const others = [
    { key: label, operator: 'Exists' },
    { key: label, operator: 'NotIn', values: [key] },
  ];
  spec.affinity = {
    ...spec.affinity,
    podAffinity: {
      ...podAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...together,
        { topologyKey, labelSelector: { matchExpressions: [same] } },
      ],
    },
    podAntiAffinity: {
      ...podAntiAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...apart,
        { topologyKey, labelSelector: { matchExpressions: others } },
      ],
    },
  };
}
