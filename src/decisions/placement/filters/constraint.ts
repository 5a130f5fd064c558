import type { Taint } from '../../../api/generated/core-v1.ts';

/** What keeps a pod, or a whole group, from a place. Closed: a new rule is a new member, here and in the texts. */
export type Constraint =
  | { readonly filter: 'NodeUnschedulable' | 'NodeGone' | 'NodeNotReady' | 'NodeName' }
  | { readonly filter: 'TaintToleration'; readonly taint: Taint }
  | { readonly filter: 'NodeAffinity'; readonly part: 'selector' | 'affinity' }
  | {
      readonly filter: 'NodePorts';
      readonly port: number;
      readonly protocol: string;
      readonly ip: string;
      readonly holder: string;
    }
  | {
      readonly filter: 'NodeResourcesFit';
      readonly resource: string;
      readonly asked: number;
      readonly free: number;
      readonly allocatable: number;
    }
  | { readonly filter: 'VolumeRestrictions'; readonly claim?: string; readonly holder: string }
  | { readonly filter: 'NodeVolumeLimits'; readonly driver: string; readonly asked: number; readonly free: number }
  | {
      readonly filter: 'VolumeBinding';
      readonly claim: string;
      readonly cause: 'NodeAffinity' | 'Unbound' | 'Lost' | 'Missing' | 'ClassMissing' | 'Topology' | 'Capacity';
    }
  | { readonly filter: 'VolumeZone'; readonly volume: string; readonly key: string }
  | {
      readonly filter: 'PodTopologySpread';
      readonly key: string;
      readonly cause: 'Skew' | 'MissingLabel';
      readonly skew?: number;
      readonly maxSkew: number;
    }
  | {
      readonly filter: 'InterPodAffinity';
      readonly cause: 'Affinity' | 'AntiAffinity' | 'ExistingAntiAffinity';
      readonly key: string;
      readonly holder?: string;
    }
  | {
      readonly filter: 'DynamicResources';
      readonly claim: string;
      readonly cause: 'ClassMissing' | 'TemplateMissing' | 'InUse' | 'ElsewhereAllocated' | 'Count';
      readonly deviceClass?: string;
      readonly asked?: number;
      readonly free?: number;
    }
  | {
      readonly filter: 'Topology';
      readonly key: string;
      readonly cause: 'NoLabel' | 'DomainSplit' | 'DomainUnlabelled' | 'DomainTooSmall';
    }
  | { readonly filter: 'Members'; readonly exist: number; readonly need: number };

export interface NodeRefusal {
  readonly constraint: Constraint;
  /** Removing pods could open the node. */
  readonly resolvable: boolean;
}

/** Whether removing pods could lift a constraint. */
export function isResolvable(constraint: Constraint): boolean {
  switch (constraint.filter) {
    case 'NodePorts':
    case 'VolumeRestrictions':
    case 'NodeVolumeLimits':
      return true;
    case 'NodeResourcesFit':
      return constraint.asked <= constraint.allocatable;
    case 'PodTopologySpread':
      return constraint.cause === 'Skew';
    case 'InterPodAffinity':
      return constraint.cause !== 'Affinity';
    case 'DynamicResources':
      return constraint.cause === 'Count' || constraint.cause === 'InUse';
    default:
      return false;
  }
}
