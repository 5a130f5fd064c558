/** Workload and PodGroup: one stored form, three versions. */
import {
  carryPodGroup,
  carryWorkload,
  SCHEDULING_VERSIONS,
  type SchedulingVersion,
  servedPodGroup,
  servedWorkload,
  type StoredPodGroup,
  type StoredWorkload,
  storedPodGroup,
  storedWorkload,
} from '../../../api/scheduling/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { ServedVersion } from '../../registry/resource.ts';

type Conversion = Pick<ServedVersion, 'toStored' | 'fromStored' | 'carry' | 'needsRevision'>;

const as = <T>(object: ApiObject): T => object as T;
const back = (object: object): ApiObject => object as ApiObject;

const podGroup = (version: SchedulingVersion): Conversion => ({
  toStored: (object) => back(storedPodGroup(as(object), version)),
  fromStored: (object) => back(servedPodGroup(as(object), version)),
  carry: (object, old) => carryPodGroup(as<StoredPodGroup>(object), as<StoredPodGroup>(old), version),
  needsRevision: version === 'v1beta1',
});

const workload = (version: SchedulingVersion): Conversion => ({
  toStored: (object) => back(storedWorkload(as(object), version)),
  fromStored: (object) => back(servedWorkload(as(object), version)),
  carry: (object, old) => carryWorkload(as<StoredWorkload>(object), as<StoredWorkload>(old), version),
  needsRevision: version === 'v1beta1',
});

export const groupConversions: Readonly<Record<string, Conversion>> = Object.fromEntries(
  SCHEDULING_VERSIONS.flatMap((version) => [
    [`scheduling.k8s.io/PodGroup/${version}`, podGroup(version)],
    [`scheduling.k8s.io/Workload/${version}`, workload(version)],
  ]),
);
