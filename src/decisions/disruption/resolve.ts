import { minimumOfTree, type TreeFault, unitInTree } from './composite.ts';
import type { CompositeFacts, GroupEntry, GroupLookup, PodGroupFacts, UnitTree } from './group-facts.ts';
import type { GroupLink } from './group-link.ts';
import { LWS } from '../../api/lws/types.ts';
import { JOBSET } from './group-markers.ts';
import type { CountedPod } from './pod-facts.ts';

export type BrokenReason = 'WorkloadNotFound' | 'PodGroupNotFound' | 'IncompleteReference' | TreeFault;

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
      /** It goes as one: no member without the others. */
      readonly whole?: boolean;
      /** Set for a unit of several groups: what it needs, and the group of this pod. */
      readonly tree?: { readonly needs: UnitTree; readonly leaf: string };
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

/**
 * R1 and R2: the PodGroup object is the unit, its template the family. Below a tree the highest composite that goes as
 * one is the unit; a composite that does not groups nothing.
 */
function resolveObject(link: GroupLink, pod: CountedPod, lookup: GroupLookup): Resolution {
  const unit = `PodGroup/${link.podGroup}`;
  const broken = (reason: BrokenReason): Resolution => ({ kind: 'broken', unit, reason });
  const group = lookup.podGroup(link.podGroup);
  if (group === undefined) return broken('PodGroupNotFound');
  const policy = policyOf(group, link, lookup);
  if (typeof policy === 'string') return broken(policy);
  const place = unitInTree(group, lookup);
  if (place.kind === 'broken') return broken(place.reason);
  if (place.kind === 'composite') return compositeGang(place.composite, group, lookup);
  const { minCount } = policy;
  if (minCount === undefined) return { kind: 'basic' };
  const { parent, template, whole } = group;
  const gang = { kind: 'gang', unit, minCount, ...(whole && { whole }) } as const;
  const enriched = replicasFromMarkers(pod, lookup);
  if (template === undefined) return { ...gang, family: unit, replicas: enriched ?? 1 };
  const replicas = enriched ?? lookup.liveGroups('PodGroup', template, parent);
  return { ...gang, family: familyOf(group, 'PodGroup'), replicas };
}

/** The quorum of a group: its own, or that of its template. */
function policyOf(
  group: PodGroupFacts,
  link: Pick<GroupLink, 'source' | 'workload'>,
  lookup: Pick<GroupLookup, 'workload'>,
): { readonly minCount: number | undefined } | BrokenReason {
  const { policy, template } = group;
  // The draft's PodGroup holds no policy of its own and R2 promises the whole chain, so the Workload must be there.
  if (policy !== undefined && link.source !== 'WorkloadRefPodGroup') return policy;
  const workload = lookup.workload(template?.workload ?? link.workload);
  if (workload === undefined) return 'WorkloadNotFound';
  const entry = template === undefined ? undefined : workload.groups.get(template.name);
  return entry === undefined ? 'PodGroupNotFound' : (policy ?? entry);
}

/** Pods a leaf of a tree needs; one where it has no quorum, or none that can be found. */
export function minimumOfLeaf(group: PodGroupFacts, lookup: Pick<GroupLookup, 'workload'>): number {
  const policy = policyOf(group, { source: 'SchedulingGroup', workload: '' }, lookup);
  return typeof policy === 'string' ? 1 : (policy.minCount ?? 1);
}

function compositeGang(composite: CompositeFacts, { name: leaf }: PodGroupFacts, lookup: GroupLookup): Resolution {
  const { name, parent, template } = composite;
  const unit = `CompositePodGroup/${name}`;
  const needs = lookup.tree(composite);
  return {
    kind: 'gang',
    unit,
    family: template === undefined ? unit : familyOf(composite, 'CompositePodGroup'),
    minCount: minimumOfTree(needs),
    replicas: template === undefined ? 1 : lookup.liveGroups('CompositePodGroup', template, parent),
    whole: true,
    tree: { needs, leaf },
  };
}

/** Roots of one template are replicas of each other; below a root only those with the same parent are. */
export function familyOf(
  { parent, template }: Pick<CompositeFacts, 'parent' | 'template'>,
  kind: 'PodGroup' | 'CompositePodGroup',
): string {
  const declared = kind === 'PodGroup' ? 'Template' : 'CompositeTemplate';
  const family = `${declared}/${template?.workload ?? ''}/${template?.name ?? ''}`;
  return parent === undefined ? family : `${family} in ${parent}`;
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
