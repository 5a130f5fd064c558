import type { ReplicaSet, StatefulSet } from '../../api/generated/apps-v1.ts';
import type { Job } from '../../api/generated/batch-v1.ts';
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/core-v1.ts';
import type { StorageClass } from '../../api/generated/storage-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { CompositePodGroup } from '../../api/generated/scheduling-v1alpha3.ts';
import {
  COMPOSITE_TYPES,
  POD_GROUP_TYPES,
  type SchedulingVersion,
  storedPodGroup,
  storedWorkload,
  WORKLOAD_TYPES,
} from '../../api/scheduling/index.ts';
import type { KindFeed } from '../kind-feed.ts';
import type { RoomKeeper } from './room-keeper.ts';

type RoomKind = KindFeed<RoomKeeper, 'Node' | 'Pod' | 'Volume' | 'Group' | 'Owner'>;

type Set<T> = (keeper: RoomKeeper, object: T) => void;

function row<T extends KubeObject>(
  type: ResourceType,
  role: RoomKind['role'],
  { set, remove }: { set: Set<T>; remove: RoomKind['delete'] },
): RoomKind {
  return { kind: type.kind, types: [type], builtIn: true, role, set: set as Set<KubeObject>, delete: remove };
}

const at = (namespace: string, name: string): string => `${namespace}/${name}`;
const keyOf = ({ metadata: { name = '', namespace = '' } }: KubeObject): string => at(namespace, name);
const versionOf = ({ apiVersion = '' }: KubeObject): SchedulingVersion => apiVersion.split('/')[1] as SchedulingVersion;

/** A template is found by the UID of its owner; one that stays behind when the owner goes is asked for by nobody. */
const owner = (kind: string, group: string): RoomKind =>
  row<ReplicaSet | StatefulSet | Job>(builtinType(kind, group), 'Owner', {
    set({ templates }, { metadata, spec }) {
      if (metadata.uid !== undefined && spec?.template !== undefined) templates.set(metadata.uid, spec.template);
    },
    remove: () => {},
  });

/** Everything a keeper of room is fed with, in the order in which to read it. */
export const ROOM_KINDS: readonly RoomKind[] = [
  row<Node>(builtinType('Node'), 'Node', {
    set: ({ cluster }, node) => cluster.setNode(node),
    remove: ({ cluster }, _, name) => cluster.removeNode(name),
  }),
  row<Namespace>(builtinType('Namespace'), 'Group', {
    set: ({ cluster }, { metadata }) => cluster.namespaceLabels.set(metadata.name ?? '', metadata.labels ?? {}),
    remove: ({ cluster }, _, name) => cluster.namespaceLabels.delete(name),
  }),
  row<StorageClass>(builtinType('StorageClass', 'storage.k8s.io'), 'Volume', {
    set: ({ cluster }, storage) => cluster.volumes.classes.set(storage.metadata.name ?? '', storage),
    remove: ({ cluster }, _, name) => cluster.volumes.classes.delete(name),
  }),
  row<PersistentVolume>(builtinType('PersistentVolume'), 'Volume', {
    set: ({ cluster }, volume) => cluster.volumes.setVolume(volume),
    remove: ({ cluster }, _, name) => cluster.volumes.volumes.delete(name),
  }),
  row<PersistentVolumeClaim>(builtinType('PersistentVolumeClaim'), 'Volume', {
    set: ({ cluster }, claim) => cluster.volumes.setClaim(claim),
    remove: ({ cluster }, namespace, name) => cluster.volumes.claims.delete(at(namespace, name)),
  }),
  {
    kind: 'PodGroup',
    types: POD_GROUP_TYPES,
    builtIn: false,
    role: 'Group',
    set: (keeper, object) => keeper.podGroups.set(keyOf(object), storedPodGroup(object as never, versionOf(object))),
    delete: (keeper, namespace, name) => keeper.podGroups.delete(at(namespace, name)),
  },
  {
    kind: 'Workload',
    types: WORKLOAD_TYPES,
    builtIn: false,
    role: 'Group',
    set: (keeper, object) => keeper.workloads.set(keyOf(object), storedWorkload(object as never, versionOf(object))),
    delete: (keeper, namespace, name) => keeper.workloads.delete(at(namespace, name)),
  },
  {
    kind: 'CompositePodGroup',
    types: COMPOSITE_TYPES,
    builtIn: false,
    role: 'Group',
    set: (keeper, object) => keeper.composites.set(keyOf(object), object as CompositePodGroup),
    delete: (keeper, namespace, name) => keeper.composites.delete(at(namespace, name)),
  },
  owner('ReplicaSet', 'apps'),
  owner('StatefulSet', 'apps'),
  owner('Job', 'batch'),
  row<Pod>(builtinType('Pod'), 'Pod', {
    set: (keeper, pod) => keeper.setPod(pod),
    remove: (keeper, namespace, name) => keeper.deletePod(namespace, name),
  }),
];
