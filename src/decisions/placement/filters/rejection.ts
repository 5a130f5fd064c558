/** Why one node will not take one pod. `reasons` are worded as Kubernetes' scheduler words them. */
export interface Rejection {
  readonly filter: FilterName;
  readonly reasons: readonly string[];
  /** Removing pods from the node could change the answer. */
  readonly resolvable: boolean;
}

/** In the order in which they are asked. */
export type FilterName =
  | 'NodeUnschedulable'
  | 'NodeName'
  | 'NodeNotReady'
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodePorts'
  | 'NodeResourcesFit'
  | 'VolumeRestrictions'
  | 'NodeVolumeLimits'
  | 'VolumeBinding'
  | 'VolumeZone'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'DynamicResources'
  | 'TopologyDomain';

export function rejection(filter: FilterName, reason: string, resolvable: boolean): Rejection {
  return { filter, reasons: [reason], resolvable };
}
