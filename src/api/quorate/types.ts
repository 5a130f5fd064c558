import type { PodDisruptionBudgetStatus } from '../generated/policy-v1.ts';
import type { ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';

export const QUORATE_GROUP = 'policy.quorate.dev';

/**
 * What Quorate has granted under one PodDisruptionBudget on a cluster, and what it counts there. Every webhook replica
 * writes it by compare-and-swap before it answers, so they agree. It has the name of its budget and goes with it.
 */
export interface DisruptionLedger {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  status?: DisruptionLedgerStatus | undefined;
}

/** The numbers of a budget's status, in groups where groups count. */
export interface DisruptionLedgerStatus extends PodDisruptionBudgetStatus {
  /** What the numbers count: `PodGroup` or `Pod`. */
  unit?: string | undefined;
  /** A reader whose pods are older than this has not seen what the numbers were computed from. */
  podsResourceVersion?: string | undefined;
  /** The replica that grants under this ledger by itself; absent where whoever writes first does. */
  hold?: LedgerHold | undefined;
  /** Every eviction that was let pass and may still be carried out, one entry per pod. */
  grants?: LedgerGrant[] | undefined;
  /** The budget that the grants were given under: another budget of the same name takes them over by pod. */
  budgetUID?: string | undefined;
  /** Which formula the budget's own numbers follow from; replicas with another leave them alone. */
  publication?: number | undefined;
}

/**
 * What a granted pod was when it was let pass. `Charged` took its unit below its minimum; `Free` was Ready and cost
 * nothing; `Unready` ran without being Ready; `Ended` was terminating or finished; `Group` went with its whole group.
 */
export const GRANT_KINDS = ['Charged', 'Free', 'Unready', 'Pending', 'Ended', 'Group'] as const;
export type GrantKind = (typeof GRANT_KINDS)[number];

/** An eviction that was let pass. The pod counts as gone until it is seen going, or nobody can still carry it out. */
export interface LedgerGrant {
  name: string;
  uid: string;
  /** When it was given, by the API server's clock, to the millisecond. */
  at: string;
  /** Of a group that is given notice: it counts as if it had been given at this time, the deadline. */
  until?: string | undefined;
  /** 1 where it takes a unit below its minimum. */
  cost: number;
  kind: GrantKind;
  /** What the eviction was pinned to: it cannot hit another pod of the name, or (`version`) a pod that changed since. */
  pinned?: 'uid' | 'version' | undefined;
  /** The pod's version where it is pinned to that. */
  resourceVersion?: string | undefined;
  /** The replica that gave it. */
  by: string;
  /** Room that was found for its whole unit and is kept from other units for two minutes. */
  room?: LedgerRoom[] | undefined;
}

/** Room for some pods of a unit on one node. */
export interface LedgerRoom {
  node: string;
  pods: number;
  /** What each of them takes there, by resource, in whole units (cpu in milli). */
  amounts: Record<string, number>;
}

/** While it lasts, its holder may have given grants that are not listed yet, and nobody else gives any. */
export interface LedgerHold {
  holder: string;
  /** Changes with every write of the holder. */
  stamp: string;
  /** Another replica wants to grant: the holder lists what it gave and lets go. */
  recalled?: boolean | undefined;
  /** The holder has been silent for at least so long: what those saw who waited for it, added up over their lives. */
  silentSeconds?: number | undefined;
}

/** Whether a ledger is that of this budget, and not of one of the same name before it. */
export function isLedgerOf({ metadata, status }: DisruptionLedger, budget: { metadata: ObjectMeta }): boolean {
  const uid = status?.budgetUID ?? metadata.ownerReferences?.[0]?.uid;
  return uid === undefined || uid === budget.metadata.uid;
}

export const disruptionLedgerType: ResourceType<DisruptionLedger> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'DisruptionLedger',
  plural: 'disruptionledgers',
  namespaced: true,
};
