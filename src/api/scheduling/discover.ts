import type { ResourceType } from '../resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP, SCHEDULING_VERSIONS, type SchedulingVersion } from './stored.ts';

/** Versions in which a cluster serves each kind of group, newest first; empty when it does not. */
export interface GroupApi {
  /** The API group: Kubernetes' own where it serves either kind, else that of our definitions. */
  readonly group: string;
  readonly podGroups: readonly SchedulingVersion[];
  readonly workloads: readonly SchedulingVersion[];
  /** Groups of groups are served too. */
  readonly composites: boolean;
}

type Read = (path: string) => Promise<{ readonly resources?: readonly { readonly name: string }[] } | undefined>;

/** Finds out what is served. `read` answers with the resource list at a path, undefined where there is none. */
export async function discoverGroupApi(read: Read): Promise<GroupApi> {
  const native = await discoverIn(read, SCHEDULING_GROUP, SCHEDULING_VERSIONS);
  if (native.podGroups.length > 0 || native.workloads.length > 0) return native;
  return discoverIn(read, OWN_SCHEDULING_GROUP, ['v1beta1']);
}

async function discoverIn(read: Read, group: string, versions: readonly SchedulingVersion[]): Promise<GroupApi> {
  const podGroups: SchedulingVersion[] = [];
  const workloads: SchedulingVersion[] = [];
  for (const version of versions) {
    const list = await read(`/apis/${group}/${version}`);
    const names = new Set(list?.resources?.map(({ name }) => name));
    if (names.has('podgroups')) podGroups.push(version);
    if (names.has('workloads')) workloads.push(version);
  }
  const list = await read(`/apis/${group}/${COMPOSITE_VERSION}`);
  const composites = list?.resources?.some(({ name }) => name === 'compositepodgroups') ?? false;
  return { group, podGroups, workloads, composites };
}

export const podGroupType = (version: SchedulingVersion, group = SCHEDULING_GROUP): ResourceType => ({
  group,
  version,
  kind: 'PodGroup',
  plural: 'podgroups',
  namespaced: true,
});

export const workloadType = (version: SchedulingVersion, group = SCHEDULING_GROUP): ResourceType => ({
  group,
  version,
  kind: 'Workload',
  plural: 'workloads',
  namespaced: true,
});

/**
 * Where to read Workloads, best first; the first that is served has all of them. Kubernetes' own kind comes before the
 * one that definitions of ours serve in its place, and the oldest version first: it alone says how many replicas a
 * group has.
 */
export const WORKLOAD_TYPES: readonly ResourceType[] = [
  workloadType('v1alpha1'),
  workloadType('v1beta1'),
  workloadType('v1alpha2'),
  workloadType('v1beta1', OWN_SCHEDULING_GROUP),
];

/** The same for PodGroups, of which only the newer versions carry a policy. */
export const POD_GROUP_TYPES: readonly ResourceType[] = [
  podGroupType('v1beta1'),
  podGroupType('v1alpha2'),
  podGroupType('v1alpha1'),
  podGroupType('v1beta1', OWN_SCHEDULING_GROUP),
];

export const COMPOSITE_VERSION = 'v1alpha3';

/** Groups of groups, which one alpha version of Kubernetes has. */
export const compositePodGroupType = (group = SCHEDULING_GROUP): ResourceType => ({
  group,
  version: COMPOSITE_VERSION,
  kind: 'CompositePodGroup',
  plural: 'compositepodgroups',
  namespaced: true,
});

export const COMPOSITE_TYPES: readonly ResourceType[] = [
  compositePodGroupType(),
  compositePodGroupType(OWN_SCHEDULING_GROUP),
];
