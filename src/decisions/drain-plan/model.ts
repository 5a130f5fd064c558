import type { Assumption, Binding, Cluster, Confidence, NearMiss, PodFacts, TopologyRule } from '../placement/index.ts';

/**
 * Planning a drain of many nodes. The planner sees only this model: units (a pod on its own is a unit of one), the
 * budgets over them, and the cluster that says what fits where. It cordons every node first, so what it moves never has to move
 * again, and takes a unit down at most once wherever room allows.
 */

/** One thing that a budget counts beside the pod's unit: another group the pod is in, or the pod alone. */
export interface PlanCell {
  readonly id: string;
  readonly budget: string;
  readonly healthy: number;
  readonly needed: number;
}

export interface PlanPod {
  readonly id: string;
  readonly node: string;
  readonly unit: string;
  /** The pod as it stands. */
  readonly facts: PodFacts;
  /** What has to find a place after it, under the same UID; undefined when nobody makes it again. */
  readonly replacement: PodFacts | undefined;
  /** Where budgets that do not count the unit as one count this pod. */
  readonly cells?: readonly PlanCell[] | undefined;
  /** Several PodDisruptionBudgets select it: every eviction is refused, whatever each of them says. */
  readonly contested?: readonly string[] | undefined;
}

/** How long the pods of a unit take, in seconds. */
/** From where it is known how long a unit takes to serve again, the surest first. */
export const TIME_SOURCES = ['Told', 'Recorded', 'Started', 'Assumed'] as const;
export type TimeSource = (typeof TIME_SOURCES)[number];

export interface UnitTime {
  /** Until they are gone. */
  readonly stop: number;
  /** From being made to having a node. */
  readonly place: number;
  /** From having a node to serving; undefined when nobody knows. */
  readonly ready?: number | undefined;
  /** The quickest and the slowest tenth of the starts that were seen. */
  readonly range?: { readonly from: number; readonly to: number } | undefined;
  /** From the first of them going to all serving again, by the record; counts instead of the others. */
  readonly recovery?: number | undefined;
  /** Absent when nobody knows. */
  readonly by?: TimeSource | undefined;
}

export interface PlanUnit {
  readonly id: string;
  /** The budgets that count the unit as one. */
  readonly budgets: readonly string[];
  /** Healthy members now. */
  readonly healthy: number;
  /** Healthy members below which the unit is down. */
  readonly needed: number;
  /** Losing one member restarts all of them, so surplus is worth nothing. */
  readonly wholesale: boolean;
  /** Node labels that all members must share. */
  readonly topology?: readonly TopologyRule[] | undefined;
  /** Its scheduler takes members as they come: the first decides where all have to go. */
  readonly apart?: boolean | undefined;
  readonly assumptions?: readonly Assumption[] | undefined;
  readonly time?: UnitTime | undefined;
  /** Its place in the order of going: where moves are equal, the lower goes first. */
  readonly rank?: number | undefined;
}

export interface PlanBudget {
  readonly id: string;
  /** Units that may go down now: available minus desired. Negative when the budget is broken already. */
  readonly allowance: number;
}

export interface PlanNode {
  readonly name: string;
  readonly drain: boolean;
}

export interface PlanQuestion {
  /** Everything that stands, also what is not moved. A plan leaves it as it was found. */
  readonly cluster: Cluster;
  /** Whether the scheduler of a pod looks for a way, or takes one node after the other. */
  readonly searches?: ((pod: PodFacts) => boolean) | undefined;
  readonly nodes: readonly PlanNode[];
  readonly pods: readonly PlanPod[];
  readonly units: readonly PlanUnit[];
  readonly budgets: readonly PlanBudget[];
  /** Drained nodes come back empty after the step that empties them, as in an upgrade. */
  readonly nodesReturn: boolean;
  /** How long a drained node is away before it comes back. */
  readonly nodeDowntimeSeconds?: number | undefined;
  /** The room that units go to is kept for them, and the plan says which. */
  readonly reserve?: boolean | undefined;
  /**
   * Units may go into room that others of the same step leave. Between the two anybody may take it, so this is only done
   * where it was asked for, or where room is reserved.
   */
  readonly allowExchange?: boolean | undefined;
}

/** Room on one node, by the names of its resources; `pods` counts pods. */
export interface HeldRoom {
  readonly node: string;
  readonly amounts: Readonly<Record<string, number>>;
}

export interface UnitEviction {
  readonly unit: string;
  readonly pods: readonly string[];
  /** True when the unit goes below what it needs. */
  readonly disrupts: boolean;
  /** Where its pods are expected to go, by pod. */
  readonly where: Readonly<Record<string, string>>;
  /** The labels that all of them share, where they must. */
  readonly domain?: Readonly<Record<string, string>> | undefined;
  readonly confidence: Confidence;
  /** What its replacement asks for in all. */
  readonly needs?: Readonly<Record<string, number>> | undefined;
  /** The room to keep for it; what it frees itself is not kept. */
  readonly hold?: readonly HeldRoom[] | undefined;
  /** How long it is away; absent when its start-up time is not known. */
  readonly seconds?: number | undefined;
  /** From where that is known, of a unit that has to serve again. */
  readonly secondsBy?: TimeSource | undefined;
}

export interface PlanStep {
  readonly evictions: readonly UnitEviction[];
  /** Nodes that are empty after this step. */
  readonly completes: readonly string[];
  /** Its units go into room that the others of them leave. */
  readonly exchange?: true | undefined;
}

export type BlockReason = 'BudgetAllowsNone' | 'BudgetBroken' | 'OverlappingBudgets' | 'NoRoom' | 'CannotTell';

export interface BlockedUnit {
  readonly unit: string;
  readonly reason: BlockReason;
  /** The budgets in the way; empty when room is. */
  readonly budgets: readonly string[];
  readonly nodes: readonly string[];
  /** Which constraint binds, in one line, where room does. */
  readonly text?: string | undefined;
  readonly binding?: Binding | undefined;
  readonly nearMiss?: NearMiss | undefined;
}

/** How long a plan takes. */
export interface PlanTime {
  readonly seconds: number;
  /** With the quickest and the slowest starts of the past, where enough of them are known. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Units that have to start again and of which nobody knows how long that takes; they count as if they took none. */
  readonly unknown: readonly string[];
  /** Of how many units that have to start again it is known from where. Absent in plans of older versions. */
  readonly by?: Readonly<Partial<Record<TimeSource, number>>> | undefined;
}

export interface DrainPlan {
  readonly steps: readonly PlanStep[];
  /** Times a unit goes down, over all steps. */
  readonly disruptions: number;
  /** No plan that moves the same pods can do with fewer. */
  readonly lowerBound: number;
  /** Units that go down more than once. */
  readonly hitAgain: number;
  readonly blocked: readonly BlockedUnit[];
  /** How long it takes. Absent in plans of older versions. */
  readonly time?: PlanTime | undefined;
}
