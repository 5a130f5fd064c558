import type { Node } from '../api/generated/core-v1.ts';
import type { FilterName } from '../decisions/gang/index.ts';
import { deepEqual } from '../machinery/values/index.ts';

/** Something happened that could make room for a pod that had none. */
export type ClusterEvent =
  | 'NodeAdded'
  | 'NodeGone'
  | 'NodeResources'
  | 'NodeLabels'
  | 'NodeTaints'
  | 'PodAssigned'
  | 'PodGone'
  | 'PodLabels'
  | 'NamespaceLabels'
  | 'VolumeChanged';

/** The events that can turn each filter's no into a yes. */
const HELPS: Readonly<Record<FilterName, readonly ClusterEvent[]>> = {
  NodeUnschedulable: ['NodeAdded', 'NodeTaints'],
  NodeName: ['NodeAdded'],
  NodeNotReady: ['NodeAdded', 'NodeTaints'],
  TaintToleration: ['NodeAdded', 'NodeTaints'],
  NodeAffinity: ['NodeAdded', 'NodeLabels'],
  NodePorts: ['NodeAdded', 'PodGone'],
  NodeResourcesFit: ['NodeAdded', 'NodeResources', 'PodGone'],
  PodTopologySpread: ['NodeAdded', 'NodeGone', 'NodeLabels', 'PodAssigned', 'PodGone', 'PodLabels'],
  InterPodAffinity: ['NodeAdded', 'NodeLabels', 'PodAssigned', 'PodGone', 'PodLabels', 'NamespaceLabels'],
  VolumeRestrictions: ['NodeAdded', 'PodGone', 'VolumeChanged'],
  NodeVolumeLimits: ['NodeAdded', 'PodGone', 'VolumeChanged'],
  VolumeBinding: ['NodeAdded', 'NodeLabels', 'VolumeChanged'],
  VolumeZone: ['NodeAdded', 'NodeLabels', 'VolumeChanged'],
  DynamicResources: ['NodeAdded', 'PodGone'],
  TopologyDomain: ['NodeAdded', 'NodeLabels', 'NodeResources', 'PodGone'],
};

/** No filters: there were no nodes to ask. */
export function couldHelp(events: ReadonlySet<ClusterEvent>, filters: ReadonlySet<FilterName>): boolean {
  if (filters.size === 0) return events.has('NodeAdded');
  for (const filter of filters) if (HELPS[filter].some((event) => events.has(event))) return true;
  return false;
}

/** What an update of a node changes for scheduling; heartbeats change nothing. */
export function nodeEvents(old: Node, node: Node): ClusterEvent[] {
  const events: ClusterEvent[] = [];
  if (!deepEqual(old.status?.allocatable, node.status?.allocatable)) events.push('NodeResources');
  if (!deepEqual(old.metadata.labels, node.metadata.labels)) events.push('NodeLabels');
  if (
    !deepEqual(old.spec?.taints, node.spec?.taints) ||
    Boolean(old.spec?.unschedulable) !== Boolean(node.spec?.unschedulable) ||
    readyStatus(old) !== readyStatus(node)
  ) {
    events.push('NodeTaints');
  }
  return events;
}

/** A node that is not ready takes pods as little as one that is tainted for it. */
const readyStatus = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status;
