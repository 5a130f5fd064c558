import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { LWS } from '../../api/lws/types.ts';
import type { CountedPod, DisruptionIndex } from '../disruption/index.ts';
import { groupIdentity } from '../unavailability/index.ts';

/** The group in words, such as `LeaderWorkerSet llm/0`. */
export function formatGroup({ groupLabel, leaderWorkerSet, podGroupName }: GroupEvictionSpec): string {
  if (podGroupName !== undefined) return `PodGroup ${podGroupName}`;
  if (leaderWorkerSet !== undefined) return `LeaderWorkerSet ${leaderWorkerSet.name}/${leaderWorkerSet.groupIndex}`;
  return `${groupLabel?.key ?? ''}=${groupLabel?.value ?? ''}`;
}

/** Whether a pod belongs to the group that is to go. */
export function isMember(spec: GroupEvictionSpec, { labels, link }: CountedPod): boolean {
  const { groupLabel, leaderWorkerSet, podGroupName } = spec;
  if (podGroupName !== undefined) {
    const namesObject = link?.source === 'SchedulingGroup' || link?.source === 'WorkloadRefPodGroup';
    return namesObject && link.podGroup === podGroupName;
  }
  if (leaderWorkerSet !== undefined) {
    return labels[LWS.name] === leaderWorkerSet.name && labels[LWS.groupIndex] === String(leaderWorkerSet.groupIndex);
  }
  return groupLabel !== undefined && groupIdentity(groupLabel.key, labels) === groupLabel.value;
}

/** The members that are not on their way out yet, by name. */
export function membersOf(index: DisruptionIndex, namespace: string, spec: GroupEvictionSpec): CountedPod[] {
  const members: CountedPod[] = [];
  for (const pod of index.pods(namespace)) {
    if (pod.deletionTimestamp === undefined && isMember(spec, pod)) members.push(pod);
  }
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}
