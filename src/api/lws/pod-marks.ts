import type { Container, Pod } from '../generated/core-v1.ts';
import { groupKeyOf } from './group-key.ts';
import { keepToItself, markSubGroup } from './pod-placement.ts';
import { LWS } from './types.ts';
import { type Random, randomSuffix } from '../../machinery/values/index.ts';

export { groupKeyOf };

/** The group of a leader pod: the number its name ends in. */
export function groupIndexOf(leaderName: string): number | undefined {
  const found = /-(\d+)$/.exec(leaderName);
  return found === null ? undefined : Number(found[1]);
}

/** The PodGroup a pod was given by its set; undefined when the set makes none, or the template named one itself. */
export function gangOf({ metadata, spec }: Pod): string | undefined {
  return metadata.annotations?.[LWS.workloadName] === undefined ? undefined : spec?.schedulingGroup?.podGroupName;
}

const MAX_NAME = 253;

/**
 * The PodGroup of a new leader. `incarnation` keeps a group and its replacement apart: pods on their way out still
 * count as placed, so that a replacement under the same name could start without its workers.
 */
function gangName(workload: string, { metadata }: Pod, { incarnation, index }: { incarnation: string; index: number }) {
  const suffix = `.${incarnation}-${index}-${metadata.labels?.[LWS.revision] ?? '0'}`;
  return `${workload.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/**
 * Sets what differs from pod to pod of one StatefulSet, as the pod is created: the group of a leader and, in a set of
 * gangs, its PodGroup; the index of a worker; subgroup, topology and environment of both. What a leader says of its group already stays: it may come from a snapshot. Answers
 * false when the pod belongs to no set.
 */
export function markLeaderWorkerPod(pod: Pod, namespace: string, random: Random): boolean {
  const labels = pod.metadata.labels ?? {};
  const set = labels[LWS.name];
  const name = pod.metadata.name ?? '';
  const ordinal = groupIndexOf(name);
  if (set === undefined || ordinal === undefined) return false;
  const isLeader = labels[LWS.workerIndex] === '0';
  pod.metadata.labels = isLeader
    ? { [LWS.groupIndex]: String(ordinal), [LWS.groupKey]: groupKeyOf(namespace, name), ...labels }
    : { ...labels, [LWS.workerIndex]: String(ordinal) };
  const workload = pod.metadata.annotations?.[LWS.workloadName];
  if (isLeader && workload !== undefined && pod.spec !== undefined && pod.spec.schedulingGroup === undefined) {
    const podGroupName = gangName(workload, pod, { incarnation: randomSuffix(random), index: ordinal });
    pod.spec.schedulingGroup = { podGroupName };
  }
  const leader = isLeader ? name : (pod.metadata.annotations?.[LWS.leaderName] ?? '');
  if (isLeader) markLeader(pod, namespace);
  markSubGroup(pod, { leader, workerIndex: isLeader ? 0 : ordinal });
  addEnvironment(pod, namespace, set);
  return true;
}

function markLeader(pod: Pod, namespace: string): void {
  const { annotations, labels, name = '' } = pod.metadata;
  if (annotations?.[LWS.subdomainPolicy] === 'UniquePerReplica' && pod.spec !== undefined) pod.spec.subdomain = name;
  const key = labels?.[LWS.groupKey] ?? groupKeyOf(namespace, name);
  keepToItself(pod, annotations?.[LWS.exclusiveTopology], { label: LWS.groupKey, key });
}

/** Where its leader is, how many they are and which it is: programs of a group find one another by these. */
function addEnvironment({ metadata, spec }: Pod, namespace: string, set: string): void {
  const { annotations = {}, labels = {} } = metadata;
  const variables = [
    { name: 'LWS_LEADER_ADDRESS', value: `${set}-${labels[LWS.groupIndex]}.${spec?.subdomain ?? ''}.${namespace}` },
    { name: 'LWS_GROUP_SIZE', value: annotations[LWS.size] ?? '' },
    { name: 'LWS_WORKER_INDEX', value: labels[LWS.workerIndex] ?? '' },
  ];
  const isOther = ({ name }: { name: string }): boolean => variables.every((one) => one.name !== name);
  // First, so that the variables of a template may refer to them.
  const add = (container: Container): void => {
    container.env = [...variables, ...(container.env ?? []).filter(isOther)];
  };
  spec?.containers.forEach(add);
  spec?.initContainers?.forEach(add);
}
