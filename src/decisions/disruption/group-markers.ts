/** Labels and annotations by which other projects mark a pod's group. */
import { LWS } from '../../api/lws/types.ts';

export const JOBSET = {
  name: 'jobset.sigs.k8s.io/jobset-name',
  replicatedJob: 'jobset.sigs.k8s.io/replicatedjob-name',
  replicas: 'jobset.sigs.k8s.io/replicatedjob-replicas',
  jobIndex: 'jobset.sigs.k8s.io/job-index',
} as const;

export const JOB_NAME = 'batch.kubernetes.io/job-name';

/** Markers of gang schedulers: where the group's name stands, and where its size does if anywhere. */
export const SCHEDULER_MARKERS: readonly { readonly key: string; readonly size?: string }[] = [
  { key: 'scheduling.k8s.io/group-name' },
  { key: 'scheduling.x-k8s.io/pod-group' },
  { key: 'kueue.x-k8s.io/pod-group-name', size: 'kueue.x-k8s.io/pod-group-total-count' },
];

/**
 * A real API server drops the pod fields it does not know. A pod made there may carry the same value as JSON in an
 * annotation of this prefix, for example `groups.quorate.dev/workloadRef: {"name":"w","podGroup":"g"}`.
 */
export const MIRROR_PREFIX = 'groups.quorate.dev/';

/** On a Workload whose version does not count them: replicas by group, as JSON. */
export const REPLICAS_ANNOTATION = 'groups.quorate.dev/replicas';

export const MARKER_ANNOTATIONS: readonly string[] = [
  LWS.size,
  'scheduling.k8s.io/group-name',
  'kueue.x-k8s.io/pod-group-total-count',
];

/** The group of a LeaderWorkerSet that a pod's labels put it in, as messages name it: `LeaderWorkerSet/chat/1`. */
export function setGroupOf(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  const set = labels?.[LWS.name];
  const index = labels?.[LWS.groupIndex];
  return set === undefined || index === undefined ? undefined : `LeaderWorkerSet/${set}/${index}`;
}
