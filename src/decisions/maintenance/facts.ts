import type { Node, NodeCondition } from '../../api/generated/core-v1.ts';
import {
  CLAIM_ANNOTATION,
  CORDONED_ANNOTATION,
  type Maintenance,
  type MaintenanceBlocker,
  type PlannedPod,
  type PodController,
} from '../../api/quorate/maintenance.ts';

/** A pod on a node of the Maintenance that has to move; what stays with its node is none. */
export interface PodFact extends PlannedPod {
  /** It has a deletionTimestamp. */
  readonly going: boolean;
  readonly controller?: PodController | undefined;
}

/** `Removed`: nobody makes it again. */
export type GroupHealth = 'Whole' | 'Down' | 'Removed';

/** What is in the way; since when is known from the status. */
export type NewBlocker = Omit<MaintenanceBlocker, 'since'>;

/** What is so now. */
export interface MaintenanceFacts {
  readonly now: number;
  readonly maintenance: Maintenance;
  /** Every node there is. */
  readonly nodes: ReadonlyMap<string, Node>;
  readonly pods: readonly PodFact[];
  /** Of the pods of plans, by uid; a pod that is not in it is gone. */
  readonly present: ReadonlyMap<string, 'There' | 'Going'>;
  /** Of the groups of the step under way; undefined where nobody has looked. */
  readonly groups?: ReadonlyMap<string, GroupHealth> | undefined;
  /** When a group may be asked for again that was refused. */
  readonly askAgainAt: ReadonlyMap<string, number>;
  /** What the last answers about groups of the step under way named, by group; absent where this process has not asked. */
  readonly refusals: ReadonlyMap<string, readonly NewBlocker[]>;
  /** Whether there is a Maintenance of this name that has not ended. */
  readonly isUnfinished: (name: string) => boolean;
  /** The notices that groups are given for it now. */
  readonly notices?: readonly NoticeUnderWay[] | undefined;
  /** How long groups of the plan are to be told before they go, where they are; the others are absent. */
  readonly noticeMs?: ReadonlyMap<string, number> | undefined;
  /** What this process wrote last of a node's condition. */
  readonly written: (node: string, type: string) => { readonly at: number; readonly status: string } | undefined;
}

/** A GroupEviction of a Maintenance whose group is told, and does not go yet. */
export interface NoticeUnderWay {
  readonly namespace: string;
  readonly name: string;
  /** When its group goes at the latest. */
  readonly deadline?: string | undefined;
}

export type MaintenanceAction =
  | { readonly kind: 'AddFinalizer' }
  | { readonly kind: 'RemoveFinalizer' }
  | { readonly kind: 'Delete' }
  | { readonly kind: 'Claim'; readonly node: string }
  | { readonly kind: 'LetGo'; readonly node: string; readonly uncordon: boolean }
  | ({ readonly kind: 'Withdraw' } & NoticeUnderWay)
  | { readonly kind: 'SetConditions'; readonly node: string; readonly conditions: readonly NodeCondition[] }
  | {
      readonly kind: 'Evict';
      readonly group: string;
      readonly pods: readonly PlannedPod[];
      /** By a GroupEviction of this number. */
      readonly whole: boolean;
      readonly plan: number;
      readonly step: number;
    };

export interface MaintenanceEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** About this node; else about the Maintenance. */
  readonly node?: string | undefined;
}

/** Takes back the notices under way: who was told stays. */
export function withdrawals({ notices = [] }: MaintenanceFacts): MaintenanceAction[] {
  return notices.map(({ name, namespace }) => ({ kind: 'Withdraw', namespace, name }));
}

/** The name by which a Maintenance claims nodes. */
export function claimOf({ metadata }: Maintenance): string {
  return `${metadata.name ?? ''}/${metadata.uid ?? ''}`;
}

export interface NodeClaim {
  /** Who has claimed it. */
  readonly holder: string | undefined;
  readonly cordoned: boolean;
  /** It was not cordoned before it was claimed. */
  readonly cordonedByClaim: boolean;
}

export function readClaim({ metadata, spec }: Node): NodeClaim {
  return {
    holder: metadata.annotations?.[CLAIM_ANNOTATION],
    cordoned: spec?.unschedulable === true,
    cordonedByClaim: metadata.annotations?.[CORDONED_ANNOTATION] === 'true',
  };
}
