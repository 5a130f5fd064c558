/**
 * Planning a drain of many nodes. The planner sees only this model: units (a pod on its own is a unit of one), the
 * budgets over them, and how much room nodes have. It cordons every node first, so what it moves never has to move
 * again, and takes a unit down at most once wherever room allows.
 */

/** Amounts by position in `PlanQuestion.resources`. */
export type Amounts = readonly number[];

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
  readonly requests: Amounts;
  /** Nodes the replacement may run on; any when absent. Share one set among pods of one shape. */
  readonly eligible?: ReadonlySet<string> | undefined;
  /** Where budgets that do not count the unit as one count this pod. */
  readonly cells?: readonly PlanCell[] | undefined;
  /** Several PodDisruptionBudgets select it: every eviction is refused, whatever each of them says. */
  readonly contested?: readonly string[] | undefined;
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
}

export interface PlanBudget {
  readonly id: string;
  /** Units that may go down now: available minus desired. Negative when the budget is broken already. */
  readonly allowance: number;
}

export interface PlanNode {
  readonly name: string;
  /** Room left beside everything that runs on it. */
  readonly free: Amounts;
  readonly drain: boolean;
}

export interface PlanQuestion {
  readonly resources: readonly string[];
  readonly nodes: readonly PlanNode[];
  readonly pods: readonly PlanPod[];
  readonly units: readonly PlanUnit[];
  readonly budgets: readonly PlanBudget[];
  /** Drained nodes come back empty after the step that empties them, as in an upgrade. */
  readonly nodesReturn: boolean;
}

export interface UnitEviction {
  readonly unit: string;
  readonly pods: readonly string[];
  /** True when the unit goes below what it needs. */
  readonly disrupts: boolean;
}

export interface PlanStep {
  readonly evictions: readonly UnitEviction[];
  /** Nodes that are empty after this step. */
  readonly completes: readonly string[];
}

export type BlockReason = 'BudgetAllowsNone' | 'BudgetBroken' | 'OverlappingBudgets' | 'NoRoom';

export interface BlockedUnit {
  readonly unit: string;
  readonly reason: BlockReason;
  /** The budgets in the way; empty when room is. */
  readonly budgets: readonly string[];
  readonly nodes: readonly string[];
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
}
