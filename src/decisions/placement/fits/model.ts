import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Constraint, NodeRefusal } from '../filters/constraint.ts';

export interface Assignment {
  readonly pod: PodFacts;
  readonly node: string;
}

/** All nodes that have these labels. */
export interface Domain {
  readonly labels: Readonly<Record<string, string>>;
}

/** What weakens a yes: said with it, and never enough for a no. */
export type Assumption =
  | 'SameSpec'
  | 'GateLifted'
  | 'SchedulerProfile'
  | 'ForeignScheduler'
  | 'BypassesScheduler'
  | 'VolumesNotKnown'
  | 'VolumeProvisioning'
  | 'RoomOfTheGoing'
  | 'OrderSampled'
  | 'DomainChoice';

/** What makes an answer impossible. */
export type UnknownReason =
  | { readonly reason: 'NotChecked'; readonly what: string }
  | { readonly reason: 'NotReadable'; readonly what: string }
  | { readonly reason: 'BadInput'; readonly what: string }
  | { readonly reason: 'SearchLimit' }
  | { readonly reason: 'DependsOnOrder' };

/**
 * Why a yes holds. `Witness`: places were found, which is enough for a scheduler that searches. `OrderFree`: any order
 * and any choice of nodes places as many. `Sampled`: every order and choice that was tried does.
 */
export type YesProof = 'Witness' | 'OnePod' | 'OrderFree' | 'Sampled';

/** Why a no holds: the sum is too large, there are too few slots, one pod fits nowhere, every way was tried. */
export type NoProof = 'Sum' | 'Slots' | 'NoNode' | 'Domain' | 'Exhausted' | 'Members';

export interface TopologyRule {
  readonly key: string;
  readonly mode: 'Required' | 'Preferred';
  /** The composite that asks for it, by namespace and name: its other groups keep to the same value. */
  readonly among?: string | undefined;
  /** Nodes of members of those groups, which decide the value. */
  readonly pins?: readonly string[] | undefined;
}

/** A unit that may be taken down to make room: all its pods, by UID. */
export interface PreemptibleUnit {
  readonly unit: string;
  readonly pods: readonly string[];
}

/** The question whether a whole unit finds places at once. */
export interface GroupAsk {
  readonly unit: string;
  readonly pods: readonly PodFacts[];
  /** How many of them. */
  readonly need: 'all' | number;
  /** Nodes of members that keep their place. */
  readonly staying?: readonly string[] | undefined;
  /** Nodes of members that are leaving. */
  readonly leaving?: readonly string[] | undefined;
  /** Members that leave still decide the domain: the question is about this moment, not about after they are gone. */
  readonly now?: boolean | undefined;
  readonly topology?: readonly TopologyRule[] | undefined;
  /** Only nodes of this domain will do: the one that the composite keeps to. */
  readonly within?: Domain | undefined;
  /**
   * Members are placed as they come, as those of a group with the basic policy are: the first decides the domain for
   * all, without a look at the others.
   */
  readonly apart?: boolean | undefined;
  /** Groups of a composite; `need` counts them, and its topology binds all of them. */
  readonly children?: readonly GroupAsk[] | undefined;
  /** Assumptions under which the pods were made up. */
  readonly assumptions?: readonly Assumption[] | undefined;
  /** Whether the pod's scheduler looks for a way, as ours does, or takes one node after the other. */
  readonly searches?: ((pod: PodFacts) => boolean) | undefined;
  /** The zone each pod comes from, by UID; it goes back there where that makes no difference otherwise. */
  readonly zones?: ReadonlyMap<string, string> | undefined;
  /**
   * Units that may be taken down for this one, in the order in which they would go, each within its budget. Absent:
   * nobody is. Only those of lower priority are taken.
   */
  readonly mayPreempt?: readonly PreemptibleUnit[] | undefined;
  /** How many times a pod may be held against a node. */
  readonly limit?: number | undefined;
}

export interface Binding {
  readonly constraint: Constraint;
  readonly scope: 'Node' | 'Domain' | 'Cluster';
  /** The pod it is about, as `namespace/name`. */
  readonly pod: string;
  /** The node selector or affinity the pod has, where that binds. */
  readonly wants?: string | undefined;
  /** What is asked for and free of the resource in question, over the nodes that pass all other filters. */
  readonly total?:
    | {
        readonly asked: number;
        readonly free: number;
        /** Nodes with anything free. */
        readonly nodes: number;
        /** The most that one node has free. */
        readonly most: number;
        readonly pods: number;
        /** What each pod asks for, where all ask for the same. */
        readonly each?: number | undefined;
        /** Some node has the resource at all. */
        readonly exists: boolean;
      }
    | undefined;
  /** Nodes that only this constraint keeps from taking the pod, of how many. */
  readonly nodes: number;
  readonly of: number;
}

export interface NearMiss {
  readonly node?: string | undefined;
  readonly domain?: Domain | undefined;
  readonly placed: number;
  readonly of: number;
  readonly missing: readonly Constraint[];
  /** Domains that members stand in, where that is what is wrong. */
  readonly domains?: readonly string[] | undefined;
  /** Nodes in the largest domain. */
  readonly largest?: number | undefined;
}

export type Confidence =
  | { readonly kind: 'exact' }
  | { readonly kind: 'assumed'; readonly list: readonly Assumption[] };

export type NodeAnswer =
  | { readonly fits: true; readonly confidence: Confidence }
  | { readonly fits: false; readonly refusals: readonly NodeRefusal[]; readonly confidence: Confidence };

export type Answer =
  | {
      readonly fits: 'Yes';
      readonly where: readonly Assignment[];
      readonly domain?: Domain | undefined;
      /** Units that have to be taken down first, whole. */
      readonly victims?: readonly string[] | undefined;
      readonly proof: YesProof;
      readonly confidence: Confidence;
    }
  | {
      readonly fits: 'No';
      readonly binding: Binding;
      readonly nearMiss: NearMiss;
      readonly proof: NoProof;
      readonly confidence: Confidence;
    }
  | {
      readonly fits: 'Unknown';
      readonly because: UnknownReason;
      readonly where?: readonly Assignment[] | undefined;
      readonly confidence: Confidence;
    };

export const EXACT: Confidence = { kind: 'exact' };

export function confidenceOf(assumptions: Iterable<Assumption>): Confidence {
  const list = [...new Set(assumptions)].sort();
  return list.length === 0 ? EXACT : { kind: 'assumed', list };
}
