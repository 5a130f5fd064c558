import type { Job } from '../api/generated/batch-v1.ts';
import type { ReplicaSet, StatefulSet } from '../api/generated/apps-v1.ts';
import type {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
} from '../api/generated/core-v1.ts';
import type { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from '../api/generated/resource-v1.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from '../api/generated/storage-v1.ts';
import { builtinType } from '../api/registry.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import type { CompositePodGroup } from '../api/generated/scheduling-v1alpha3.ts';
import {
  COMPOSITE_TYPES,
  POD_GROUP_TYPES,
  type SchedulingVersion,
  storedPodGroup,
  storedWorkload,
  WORKLOAD_TYPES,
} from '../api/scheduling/index.ts';
import { readGroupLink } from '../decisions/disruption/index.ts';
import { findTerms, type GroupTerms, topologyRules } from '../decisions/gang/index.ts';
import {
  Cluster,
  levelOfVersion,
  type PodFacts,
  searchesByVersion,
  type TopologyRule,
} from '../decisions/placement/index.ts';
import { type Client, isForbidden, isNotFound } from '../machinery/runtime/index.ts';
import { ClusterReader } from './cluster-reader.ts';

/** What decides where pods can go, as a cluster says it at one moment; pods are not placed yet. */
export interface PlacementState {
  readonly cluster: Cluster;
  readonly templateOf: (owner: string) => PodTemplateSpec | undefined;
  /** The node labels that a pod's group, and composites above it, keep to. */
  readonly topologyOf: (pod: Pod) => readonly TopologyRule[];
  /** Whether a pod's group has no minimum: its pods are placed as they come. */
  readonly apartOf: (pod: Pod) => boolean;
  readonly searches: (pod: PodFacts) => boolean;
}

const STORAGE = 'storage.k8s.io';
const RESOURCE = 'resource.k8s.io';

/** Reads what decides where pods can go. What may not be read makes answers weaker, or impossible, and never a yes. */
export async function gatherPlacement(client: Client, nodes: readonly Node[]): Promise<PlacementState> {
  const cluster = new Cluster({ level: await levelOf(client) });
  for (const node of nodes) if (node.metadata.deletionTimestamp === undefined) cluster.setNode(node);
  const read = <T extends KubeObject>(kind: string, group = ''): Promise<T[] | undefined> =>
    readAll(client, [builtinType(kind, group) as ResourceType<T>]);
  const [namespaces, templates, termsOf, composites, looks] = await Promise.all([
    read<Namespace>('Namespace'),
    readTemplates(read),
    readTerms(client),
    readComposites(client),
    schedulersOf(client),
    readVolumes(cluster, read),
    readDevices(cluster, read),
  ]);
  for (const { metadata } of namespaces ?? []) cluster.namespaceLabels.set(metadata.name ?? '', metadata.labels ?? {});
  const searches = ({ pod }: PodFacts): boolean => looks(pod.spec?.schedulerName ?? 'default-scheduler');
  return {
    cluster,
    templateOf: (owner) => templates.get(owner),
    topologyOf: (pod) => {
      const terms = termsOf(pod);
      const namespace = pod.metadata.namespace ?? '';
      return terms === undefined
        ? []
        : topologyRules(terms, namespace, (name) => composites.get(`${namespace}/${name}`));
    },
    apartOf: (pod) => termsOf(pod)?.gang === false,
    searches,
  };
}

type Read = <T extends KubeObject>(kind: string, group?: string) => Promise<T[] | undefined>;

/** Undefined when the kind may not be read; none where the cluster does not serve it. */
async function readAll<T extends KubeObject>(
  client: Client,
  types: readonly ResourceType<T>[],
): Promise<T[] | undefined> {
  const reader = new ClusterReader(client);
  const found = await reader.listNamed(types);
  return reader.unread.length > 0 ? undefined : found;
}

async function versionOf(client: Client): Promise<string> {
  try {
    return (await client.request<{ gitVersion?: string }>('GET', '/version')).gitVersion ?? '';
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return '';
    throw error;
  }
}

export async function levelOf(client: Client): Promise<'1.36' | '1.37'> {
  return levelOfVersion(await versionOf(client));
}

export async function schedulersOf(client: Client): Promise<(schedulerName: string) => boolean> {
  return searchesByVersion(await versionOf(client));
}

async function readTemplates(read: Read): Promise<Map<string, PodTemplateSpec>> {
  const owners = await Promise.all([
    read<ReplicaSet>('ReplicaSet', 'apps'),
    read<StatefulSet>('StatefulSet', 'apps'),
    read<Job>('Job', 'batch'),
  ]);
  const templates = new Map<string, PodTemplateSpec>();
  for (const { metadata, spec } of owners.flatMap((list): (ReplicaSet | StatefulSet | Job)[] => list ?? [])) {
    if (metadata.uid !== undefined && spec?.template !== undefined) templates.set(metadata.uid, spec.template);
  }
  return templates;
}

async function readVolumes({ volumes }: Cluster, read: Read): Promise<void> {
  const [claims, found, classes, nodes, drivers, capacities, attachments] = await Promise.all([
    read<PersistentVolumeClaim>('PersistentVolumeClaim'),
    read<PersistentVolume>('PersistentVolume'),
    read<StorageClass>('StorageClass', STORAGE),
    read<CSINode>('CSINode', STORAGE),
    read<CSIDriver>('CSIDriver', STORAGE),
    read<CSIStorageCapacity>('CSIStorageCapacity', STORAGE),
    read<VolumeAttachment>('VolumeAttachment', STORAGE),
  ]);
  if (claims === undefined || found === undefined || classes === undefined) return;
  volumes.known = true;
  for (const claim of claims) volumes.setClaim(claim);
  for (const volume of found) volumes.setVolume(volume);
  for (const storage of classes) volumes.classes.set(storage.metadata.name ?? '', storage);
  for (const node of nodes ?? []) volumes.nodes.set(node.metadata.name ?? '', node);
  for (const { metadata, spec } of drivers ?? []) {
    if (spec?.storageCapacity === true) volumes.tracked.add(metadata.name ?? '');
  }
  volumes.capacities.push(...(capacities ?? []));
  for (const { spec } of attachments ?? []) {
    const volume = volumes.volumes.get(spec?.source.persistentVolumeName ?? '');
    if (spec === undefined || volume === undefined) continue;
    const attached = volumes.attached.get(spec.nodeName) ?? new Set<string>();
    volumes.attached.set(spec.nodeName, attached.add(`${spec.attacher}^${volume.handle}`));
  }
}

async function readDevices({ devices }: Cluster, read: Read): Promise<void> {
  const [classes, claims, templates, slices] = await Promise.all([
    read<DeviceClass>('DeviceClass', RESOURCE),
    read<ResourceClaim>('ResourceClaim', RESOURCE),
    read<ResourceClaimTemplate>('ResourceClaimTemplate', RESOURCE),
    read<ResourceSlice>('ResourceSlice', RESOURCE),
  ]);
  if (classes === undefined || claims === undefined || templates === undefined || slices === undefined) return;
  devices.known = true;
  for (const one of classes) devices.setClass(one);
  for (const claim of claims) devices.setClaim(claim);
  for (const slice of slices) devices.addSlice(slice);
  for (const { metadata, spec } of templates) {
    devices.setTemplate(metadata.namespace ?? '', metadata.name ?? '', spec?.spec);
  }
}

async function readComposites(client: Client): Promise<Map<string, CompositePodGroup>> {
  const found = (await readAll(client, COMPOSITE_TYPES)) ?? [];
  return new Map(
    found.map((one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name ?? ''}`, one as CompositePodGroup]),
  );
}

/** Follows a pod's link to its group and answers what holds for all of the group. */
async function readTerms(client: Client): Promise<(pod: Pod) => GroupTerms | undefined> {
  const [podGroups, workloads] = await Promise.all([readAll(client, POD_GROUP_TYPES), readAll(client, WORKLOAD_TYPES)]);
  const keyed = <T>(objects: KubeObject[] | undefined, convert: (object: never, version: SchedulingVersion) => T) =>
    new Map(
      (objects ?? []).map((object) => [
        `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`,
        convert(object as never, (object.apiVersion ?? '').split('/')[1] as SchedulingVersion),
      ]),
    );
  const groups = keyed(podGroups, storedPodGroup);
  const sets = keyed(workloads, storedWorkload);
  return (pod) => {
    const link = readGroupLink(pod);
    if (link === undefined) return undefined;
    const at = (name: string): string => `${pod.metadata.namespace ?? ''}/${name}`;
    const answer = findTerms(link, {
      podGroup: (name) => groups.get(at(name)),
      workload: (name) => sets.get(at(name)),
    });
    return answer.reason === 'Found' ? answer.terms : undefined;
  };
}
