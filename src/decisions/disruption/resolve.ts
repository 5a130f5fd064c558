import type { GroupEntry, GroupLookup } from './group-facts.ts';
import type { GroupLink } from './group-link.ts';
import { JOBSET, LWS } from './group-markers.ts';
import type { CountedPod } from './pod-facts.ts';

export type BrokenReason = 'WorkloadNotFound' | 'PodGroupNotFound' | 'IncompleteReference';

/**
 * What a pod belongs to. `gang`: one unit of a family. `basic`: a group without a quorum, so the pod stands for
 * itself. `broken`: the pod names a group that cannot be resolved; `unit` still tells such groups apart.
 */
export type Resolution =
  | {
      readonly kind: 'gang';
      readonly unit: string;
      readonly family: string;
      readonly minCount: number;
      /** Undefined: as many as are seen. */
      readonly replicas: number | undefined;
    }
  | { readonly kind: 'basic' }
  | { readonly kind: 'broken'; readonly unit: string; readonly reason: BrokenReason };

/**
 * Resolves a link to its unit (R1 to R5). A link that cannot be followed to its end is broken; it never falls through
 * to labels, because a dangling reference must not silently turn into another grouping.
 */
export function resolveLink(link: GroupLink, pod: CountedPod, lookup: GroupLookup): Resolution {
  switch (link.source) {
    case 'SchedulingGroup':
    case 'WorkloadRefPodGroup':
      return resolveObject(link, pod, lookup);
    default:
      return resolveEntry(link, pod, lookup);
  }
}

/** R1 and R2: the PodGroup object is the unit, its template the family. */
function resolveObject(link: GroupLink, pod: CountedPod, lookup: GroupLookup): Resolution {
  const unit = `PodGroup/${link.podGroup}`;
  const group = lookup.podGroup(link.podGroup);
  if (group === undefined) return { kind: 'broken', unit, reason: 'PodGroupNotFound' };
  const { template } = group;
  let minCount = group.policy?.minCount;
  // The draft's PodGroup holds no policy of its own and R2 promises the whole chain, so the Workload must be there.
  if (group.policy === undefined || link.source === 'WorkloadRefPodGroup') {
    const workload = lookup.workload(template?.workload ?? link.workload);
    if (workload === undefined) return { kind: 'broken', unit, reason: 'WorkloadNotFound' };
    const entry = template === undefined ? undefined : workload.groups.get(template.name);
    if (entry === undefined) return { kind: 'broken', unit, reason: 'PodGroupNotFound' };
    minCount = group.policy === undefined ? entry.minCount : minCount;
  }
  if (minCount === undefined) return { kind: 'basic' };
  const enriched = replicasFromMarkers(pod, lookup);
  if (template === undefined) return { kind: 'gang', unit, family: unit, minCount, replicas: enriched ?? 1 };
  const replicas = enriched ?? lookup.livePodGroups(template.workload, template.name);
  return { kind: 'gang', unit, family: `Template/${template.workload}/${template.name}`, minCount, replicas };
}

/** R3 to R5: the entry in the Workload is the family, the replica key tells its units apart. */
function resolveEntry(link: GroupLink, pod: CountedPod, lookup: GroupLookup): Resolution {
  const family = `Workload/${link.workload}/${link.podGroup}`;
  const unit = `${family}/${link.replicaKey}`;
  const broken = (reason: BrokenReason): Resolution => ({ kind: 'broken', unit, reason });
  if (link.podGroup === '') return broken('IncompleteReference');
  const workload = lookup.workload(link.workload);
  if (workload === undefined) return broken('WorkloadNotFound');
  const entry: GroupEntry | undefined = workload.groups.get(link.podGroup);
  if (entry === undefined) return broken('PodGroupNotFound');
  if (entry.minCount === undefined) return { kind: 'basic' };
  const gang = { kind: 'gang', family, minCount: entry.minCount, replicas: entry.replicas } as const;
  if (link.source !== 'Workload' || entry.replicas <= 1 || link.replicaKey !== '') return { ...gang, unit };
  // Without a replica index only the labels of a known controller may stand in for it.
  const index = replicaIndexFromMarkers(pod);
  return index === undefined ? broken('IncompleteReference') : { ...gang, unit: `${family}/${index}` };
}

function replicaIndexFromMarkers({ labels }: CountedPod): string | undefined {
  return labels[LWS.groupIndex] ?? labels[JOBSET.jobIndex];
}

/** Labels of LeaderWorkerSet and JobSet know better than a count of objects how many replicas there should be. */
function replicasFromMarkers({ labels }: CountedPod, lookup: GroupLookup): number | undefined {
  const set = labels[LWS.name];
  if (set !== undefined) return lookup.source(`LeaderWorkerSet/${set}`)?.replicas;
  const replicas = labels[JOBSET.replicas];
  return replicas !== undefined && /^\d+$/.test(replicas) ? Number(replicas) : undefined;
}
