import { createHash } from 'node:crypto';
import type { Pod } from '../generated/core-v1.ts';
import { LWS } from './types.ts';

/** Same for a group and its replacement, so that nobody mistakes one for two. */
export function groupKeyOf(namespace: string, leaderName: string): string {
  return createHash('sha1').update(`${namespace}/${leaderName}`).digest('hex');
}

/** The group of a leader pod: the number its name ends in. */
export function groupIndexOf(leaderName: string): number | undefined {
  const found = /-(\d+)$/.exec(leaderName);
  return found === null ? undefined : Number(found[1]);
}

/**
 * Sets what differs from pod to pod of one StatefulSet, as the pod is created: the group of a leader, the index of a
 * worker. Answers false when the pod belongs to no set.
 */
export function markLeaderWorkerPod(pod: Pod, namespace: string): boolean {
  const labels = pod.metadata.labels ?? {};
  const set = labels[LWS.name];
  const name = pod.metadata.name ?? '';
  const ordinal = groupIndexOf(name);
  if (set === undefined || ordinal === undefined) return false;
  const isLeader = labels[LWS.workerIndex] === '0';
  pod.metadata.labels = {
    ...labels,
    ...(isLeader
      ? { [LWS.groupIndex]: String(ordinal), [LWS.groupKey]: groupKeyOf(namespace, name) }
      : { [LWS.workerIndex]: String(ordinal) }),
  };
  return true;
}
