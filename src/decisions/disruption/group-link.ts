import type { Pod, PodWorkloadRef, PodWorkloadReference, PodWorkload } from '../../api/generated/core-v1.ts';
import { MIRROR_PREFIX } from './group-markers.ts';

/** Which pod field points at the group; the R-number is that of the resolver. */
export type LinkSource =
  | 'SchedulingGroup' // R1: spec.schedulingGroup.podGroupName
  | 'WorkloadRefPodGroup' // R2: spec.workloadRef.podGroupName
  | 'WorkloadRef' // R3: spec.workloadRef.{name,podGroup,podGroupReplicaKey}
  | 'WorkloadReference' // R4: spec.workloadReference.{name,podGroup,podGroupReplicaIndex}
  | 'Workload'; // R5: spec.workload.{name,podGroup,podGroupReplicaIndex}

/** How a pod names its group. Nothing here says that the group exists. */
export interface GroupLink {
  readonly source: LinkSource;
  /** Empty for R1, where the PodGroup object knows it. */
  readonly workload: string;
  /** A PodGroup object for R1 and R2, an entry of the Workload for R3 to R5; empty when the pod does not say. */
  readonly podGroup: string;
  /** Absent key and empty key are the same replica. */
  readonly replicaKey: string;
}

/**
 * Reads the link, first shape that matches wins: R1, R2, R3, R4, R5. A field beats the annotation of the same shape.
 * A reference without a workload name is no reference.
 */
export function readGroupLink(pod: Pod): GroupLink | undefined {
  const read = <T>(field: 'schedulingGroup' | 'workloadRef' | 'workloadReference' | 'workload'): T | undefined =>
    (pod.spec?.[field] as T | undefined) ?? readMirror<T>(pod, field);

  const name = read<{ podGroupName?: string }>('schedulingGroup')?.podGroupName;
  if (name) return { source: 'SchedulingGroup', workload: '', podGroup: name, replicaKey: '' };

  const ref = read<PodWorkloadRef>('workloadRef');
  if (ref?.podGroupName) {
    return { source: 'WorkloadRefPodGroup', workload: ref.name ?? '', podGroup: ref.podGroupName, replicaKey: '' };
  }
  if (ref?.name) return link('WorkloadRef', ref, ref.podGroupReplicaKey);

  const reference = read<PodWorkloadReference>('workloadReference');
  if (reference?.name) return link('WorkloadReference', reference, reference.podGroupReplicaIndex);

  const workload = read<PodWorkload>('workload');
  return workload?.name ? link('Workload', workload, workload.podGroupReplicaIndex) : undefined;
}

function link(
  source: LinkSource,
  { name, podGroup }: { name: string; podGroup?: string | undefined },
  key: string | number | undefined,
): GroupLink {
  return { source, workload: name, podGroup: podGroup ?? '', replicaKey: key === undefined ? '' : String(key) };
}

function readMirror<T>(pod: Pod, field: string): T | undefined {
  const text = pod.metadata.annotations?.[MIRROR_PREFIX + field];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
