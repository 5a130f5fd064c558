import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { LWS } from '../../api/lws/types.ts';
import type { CountedPod, DisruptionIndex } from '../disruption/index.ts';
import { groupIdentity } from '../unavailability/index.ts';

/** The group in words, such as `LeaderWorkerSet llm/0`. */
export function formatGroup({ groupLabel, leaderWorkerSet, podGroupName, podName }: GroupEvictionSpec): string {
  if (podName !== undefined) return `Pod ${podName}`;
  if (podGroupName !== undefined) return `PodGroup ${podGroupName}`;
  if (leaderWorkerSet !== undefined) return `LeaderWorkerSet ${leaderWorkerSet.name}/${leaderWorkerSet.groupIndex}`;
  return `${groupLabel?.key ?? ''}=${groupLabel?.value ?? ''}`;
}

/** Whether a pod belongs to the group that is to go. */
export function isMember(spec: GroupEvictionSpec, { labels, link, name }: CountedPod): boolean {
  const { groupLabel, leaderWorkerSet, podGroupName, podName } = spec;
  if (podName !== undefined) return name === podName;
  if (podGroupName !== undefined) {
    const namesObject = link?.source === 'SchedulingGroup' || link?.source === 'WorkloadRefPodGroup';
    return namesObject && link.podGroup === podGroupName;
  }
  if (leaderWorkerSet !== undefined) {
    return labels[LWS.name] === leaderWorkerSet.name && labels[LWS.groupIndex] === String(leaderWorkerSet.groupIndex);
  }
  return groupLabel !== undefined && groupIdentity(groupLabel.key, labels) === groupLabel.value;
}

/** The members that are not on their way out yet, by name, with those that may only be disrupted together with one of them. */
export function membersOf(index: DisruptionIndex, namespace: string, spec: GroupEvictionSpec): CountedPod[] {
  const members = new Map<string, CountedPod>();
  for (const pod of index.pods(namespace)) {
    if (pod.deletionTimestamp !== undefined || members.has(pod.name) || !isMember(spec, pod)) continue;
    members.set(pod.name, pod);
    for (const other of index.asOne(namespace, pod.name)?.members ?? []) members.set(other.name, other);
  }
  return [...members.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** How a GroupEviction names the group of a pod that may only go together with all of it: by the pod's own PodGroup. */
export function targetAsOne(pod: CountedPod): GroupEvictionSpec {
  return { podGroupName: pod.link?.podGroup ?? '' };
}
