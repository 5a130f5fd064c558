import type { Condition, LabelSelector, ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';
import { QUORATE_GROUP } from './types.ts';
import type { Window } from './window.ts';

/**
 * A drain of nodes as an object: which nodes, when, and how. Its controller plans it, claims and cordons the nodes, lets
 * groups go step by step within budgets, waits for what comes back, and says in its status how far it is.
 */
export interface Maintenance {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: MaintenanceSpec | undefined;
  status?: MaintenanceStatus | undefined;
}

export interface MaintenanceSpec {
  nodes: MaintenanceNodes;
  reason?: string | undefined;
  notBefore?: string | undefined;
  deadline?: string | undefined;
  /** None: any time. */
  windows?: Window[] | undefined;
  mode?: 'AllOrNothing' | 'BestEffort' | undefined;
  /** Drained nodes come back, as in an upgrade: the plan counts on their room. */
  nodesReturn?: boolean | undefined;
  uncordon?: 'Never' | 'WhenDrained' | 'WhenFinished' | undefined;
  cordon?: 'AllFirst' | 'ByStep' | undefined;
  capacity?: 'Required' | 'Ignore' | undefined;
  replan?: 'WithinPlan' | 'Any' | undefined;
  pace?: MaintenancePace | undefined;
  pods?: MaintenancePods | undefined;
  recoveryTimeout?: string | undefined;
  /** What is done when drains wait for each other in a ring: said, or the cheapest one steps back. */
  onDeadlock?: 'Report' | 'Yield' | undefined;
  paused?: boolean | undefined;
  cancelled?: boolean | undefined;
  ttlSecondsAfterFinished?: number | undefined;
  /** What another drain is known by; nobody but Quorate itself writes it. */
  source?: DrainSource | undefined;
}

/** A drain that somebody else carries out. */
export interface DrainSource {
  /** Who, such as `Karpenter`. */
  driver: string;
  /** What on the node says so. */
  marker: string;
  /** When it ends whatever budgets say; absent where none is known. */
  deadline?: string | undefined;
  /** Its deadline lies in an object that may not be read. */
  deadlineUnknown?: boolean | undefined;
  /** Pods go at the deadline, whatever budgets say. */
  ignoresBudgets?: boolean | undefined;
  /** Announced, and not begun. */
  planned?: boolean | undefined;
}

/** Names and selector together mean both. */
export interface MaintenanceNodes {
  names?: string[] | undefined;
  selector?: LabelSelector | undefined;
  all?: boolean | undefined;
}

export interface MaintenancePace {
  maxNodesAtOnce?: number | string | undefined;
  maxGroupsDownAtOnce?: number | undefined;
  pauseBetweenSteps?: string | undefined;
}

export interface MaintenancePods {
  force?: boolean | undefined;
  deleteEmptyDirData?: boolean | undefined;
  gracePeriodSeconds?: number | undefined;
}

export const MAINTENANCE_PHASES = [
  'Pending',
  'Planned',
  'WaitingForWindow',
  'Running',
  'Blocked',
  'Paused',
  'Done',
  'Failed',
  'Cancelled',
] as const;
export type MaintenancePhase = (typeof MAINTENANCE_PHASES)[number];

export const NODE_STATES = ['Waiting', 'Claimed', 'Draining', 'Drained', 'Returned', 'Released', 'Gone'] as const;
export type MaintenanceNodeState = (typeof NODE_STATES)[number];

export const STEP_ACTIVITIES = ['Cordoning', 'Noticing', 'Evicting', 'Recovering', 'Returning', 'Pausing'] as const;
export type StepActivity = (typeof STEP_ACTIVITIES)[number];

export interface MaintenanceStatus {
  phase?: MaintenancePhase | undefined;
  observedGeneration?: number | undefined;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  expectedEnd?: string | undefined;
  plan?: MaintenancePlan | undefined;
  step?: MaintenanceStep | undefined;
  nodes?: MaintenanceNodeStatus[] | undefined;
  nodesTotal?: number | undefined;
  nodesDrained?: number | undefined;
  groups?: MaintenanceGroups | undefined;
  blockers?: MaintenanceBlocker[] | undefined;
  /** Budgets, groups, room and drains that it cannot get on without. */
  waitsFor?: string[] | undefined;
  /** It stepped back because drains waited for each other. */
  yielded?: MaintenanceYield | undefined;
  conditions?: Condition[] | undefined;
  /** What `kubectl get` shows. */
  summary?: MaintenanceSummary | undefined;
}

export interface MaintenanceYield {
  since: string;
  /** It looks again then, at the latest. */
  until: string;
  /** Names of the Maintenances it waits for. */
  to: string[];
  /** How often it has. */
  times: number;
}

export interface MaintenancePlan {
  number: number;
  madeAt: string;
  hash: string;
  /** Steps that were done when this plan was made: its first one has the next number. */
  stepsBefore: number;
  steps: PlannedStep[];
  /** Steps that found no place here; the rest is planned anew when those above are done. */
  truncatedSteps?: number | undefined;
  disruptions: number;
  lowerBound: number;
  blocked?: PlannedBlock[] | undefined;
  /** A node that was asked for and goes when the others are back, so that they have somewhere to move to. */
  leftForLast?: string | undefined;
}

export interface PlannedStep {
  evictions: PlannedEviction[];
  completes?: string[] | undefined;
}

export interface PlannedEviction {
  group: string;
  pods: PlannedPod[];
  disrupts: boolean;
  /** One of its pods went, or the group was told to. */
  begun?: boolean | undefined;
  /** It goes by a GroupEviction, with members that stand elsewhere too. */
  whole?: boolean | undefined;
  /** How long it is thought to be away. */
  seconds?: number | undefined;
}

export interface PlannedPod {
  namespace: string;
  name: string;
  uid: string;
  node: string;
  /** Who makes it again. */
  controller?: PodController | undefined;
}

export interface PodController {
  apiVersion?: string | undefined;
  kind: string;
  name: string;
  uid: string;
}

export interface PlannedBlock {
  group: string;
  reason: string;
  budgets?: string[] | undefined;
  nodes?: string[] | undefined;
  /** As `namespace/name`. */
  pods?: string[] | undefined;
  text?: string | undefined;
}

export interface MaintenanceStep {
  /** The one under way, else the last that was done; 0 before. */
  number: number;
  of: number;
  begunAt?: string | undefined;
  doneAt?: string | undefined;
  activity?: StepActivity | undefined;
}

export interface MaintenanceNodeStatus {
  name: string;
  uid: string;
  state: MaintenanceNodeState;
  since: string;
  /** How often a pod that came to it made another plan necessary. */
  replans?: number | undefined;
}

export interface MaintenanceGroups {
  downNow: number;
  /** Outages of groups that this one caused. */
  downTotal: number;
  /** Those and the ones to come. */
  planned: number;
  hit?: GroupHit[] | undefined;
}

export interface GroupHit {
  group: string;
  count: number;
  /** How often it may be taken down in all, by the first plan. */
  allowed: number;
}

export type BlockerKind =
  | 'PodDisruptionBudget'
  | 'PodUnavailableBudget'
  | 'DisruptionPolicy'
  | 'Capacity'
  | 'Pod'
  | 'Node'
  | 'Maintenance'
  | 'Access';

export interface MaintenanceBlocker {
  kind: BlockerKind;
  name?: string | undefined;
  namespace?: string | undefined;
  group?: string | undefined;
  /** The first ten. */
  pods?: string[] | undefined;
  podsTotal?: number | undefined;
  since: string;
  reason: string;
  message: string;
  /** Smallest change first. */
  remedies?: string[] | undefined;
}

export interface MaintenanceSummary {
  step?: string | undefined;
  nodes?: string | undefined;
  groups?: string | undefined;
  waitsFor?: string | undefined;
  window?: string | undefined;
}

export const maintenanceType: ResourceType<Maintenance> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'Maintenance',
  plural: 'maintenances',
  namespaced: false,
};

/** The component that shows drains of others; on the embedded host it is told apart by its name. */
export const OBSERVER = 'observed-drains';
export const OBSERVER_USER = `system:quorate:${OBSERVER}`;

/** Keeps the object until its nodes are let go. */
export const MAINTENANCE_FINALIZER = 'policy.quorate.dev/maintenance';
/** On a node: the Maintenance that claimed it, as `NAME/UID`. */
export const CLAIM_ANNOTATION = 'policy.quorate.dev/maintenance';
/** On a claimed node: it was not cordoned before. */
export const CORDONED_ANNOTATION = 'policy.quorate.dev/cordoned';

export const DEFAULT_RECOVERY_TIMEOUT = '30m';
export const DEFAULT_MAINTENANCE_TTL_SECONDS = 604_800;

const FINAL: ReadonlySet<string> = new Set(['Done', 'Failed', 'Cancelled']);

/** Nothing becomes of it any more. */
export function isFinished({ status }: Pick<Maintenance, 'status'>): boolean {
  return FINAL.has(status?.phase ?? '');
}
