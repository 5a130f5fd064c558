import type { ResourceType } from '../resource.ts';
import { SCHEDULING_GROUP, SCHEDULING_VERSIONS, type SchedulingVersion } from './stored.ts';

/** Versions in which a cluster serves each kind of group, newest first; empty when it does not. */
export interface GroupApi {
  readonly podGroups: readonly SchedulingVersion[];
  readonly workloads: readonly SchedulingVersion[];
}

/** Finds out what is served. `read` answers with the resource list at a path, undefined where there is none. */
export async function discoverGroupApi(
  read: (path: string) => Promise<{ readonly resources?: readonly { readonly name: string }[] } | undefined>,
): Promise<GroupApi> {
  const podGroups: SchedulingVersion[] = [];
  const workloads: SchedulingVersion[] = [];
  for (const version of SCHEDULING_VERSIONS) {
    const list = await read(`/apis/${SCHEDULING_GROUP}/${version}`);
    const names = new Set(list?.resources?.map(({ name }) => name));
    if (names.has('podgroups')) podGroups.push(version);
    if (names.has('workloads')) workloads.push(version);
  }
  return { podGroups, workloads };
}

export const podGroupType = (version: SchedulingVersion): ResourceType => ({
  group: SCHEDULING_GROUP,
  version,
  kind: 'PodGroup',
  plural: 'podgroups',
  namespaced: true,
});

export const workloadType = (version: SchedulingVersion): ResourceType => ({
  group: SCHEDULING_GROUP,
  version,
  kind: 'Workload',
  plural: 'workloads',
  namespaced: true,
});
